import ArgumentParser
import SystemPackage
import Webhooks

/// The URLs to which the service delivers events.
struct WebhookOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Deliver events to this URL, each as a POST with its record as JSON. See docs/service.md.",
      discussion: "May be given several times.", valueName: "url"))
  var webhook: [WebhookURL] = []

  @Option(
    help: ArgumentHelp(
      "A file with the secret that signs what is delivered: whsec_ and Base64.",
      discussion: "Its first line counts; nobody else should be able to read it.",
      valueName: "file"), completion: .file())
  var webhookSecretFile: String?

  @Option(
    help: ArgumentHelp(
      "The events to deliver, with commas: \(WebhookEvents.names). (default: enter,exit)",
      valueName: "events"))
  var webhookEvents: WebhookEvents?

  func validate() throws {
    guard webhook.isEmpty else { return }
    let given: [(Bool, String)] = [
      (webhookSecretFile != nil, "secret-file"), (webhookEvents != nil, "events"),
    ]
    if let (_, name) = given.first(where: \.0) {
      throw ValidationError("--webhook-\(name) needs a webhook; give --webhook URL too.")
    }
  }

  var configuration: (webhooks: WebhookConfiguration, events: Set<String>)? {
    get throws {
      guard !webhook.isEmpty else { return nil }
      var configuration = WebhookConfiguration(webhook)
      configuration.secret = try webhookSecretFile.map(Self.secret)
      configuration.userAgent = "beaconscan/\(Beaconscan.configuration.version)"
      return (configuration, webhookEvents?.kinds ?? ["enter", "exit"])
    }
  }

  private static func secret(_ path: String) throws -> WebhookSecret {
    guard let secret = WebhookSecret(try SecretFile.firstLine(of: path, "secret")) else {
      throw CommandError(
        .badData,
        "\(path): a secret is a line of whsec_ and 24 to 64 bytes in Base64; make one with: "
          + "echo whsec_$(openssl rand -base64 32)")
    }
    return secret
  }
}

enum SecretFile {
  private static let maximumBytes = 65536

  /// Returns the first line of a file with a secret of a kind.
  ///
  /// - Throws: `CommandError` if it cannot be read.
  static func firstLine(of path: String, _ kind: String) throws -> [UInt8] {
    do {
      let file = try FileDescriptor.open(FilePath(path), .readOnly, options: [.closeOnExec])
      let bytes = try file.closeAfter {
        var bytes = [UInt8](repeating: 0, count: maximumBytes)
        let count = try unsafe bytes.withUnsafeMutableBytes { try unsafe file.read(into: $0) }
        return bytes.prefix(count)
      }
      return Array(bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") })
    } catch {
      throw CommandError(
        error as? Errno ?? .ioError, path, "cannot read the \(kind)",
        "check the path and its permissions")
    }
  }
}

struct WebhookEvents: ExpressibleByArgument {
  let kinds: Set<String>

  private static let all = ["enter", "exit", "state", "visit", "health"]
  static let names = all.joined(separator: ", ")

  init?(argument: String) {
    let kinds = argument.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    guard kinds.allSatisfy(Self.all.contains) else { return nil }
    self.kinds = Set(kinds)
  }
}
