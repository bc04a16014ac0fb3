import ArgumentParser
import Frontends
import SystemPackage
import Webhooks

struct WebhookOptions: ParsableArguments {
  @Option(
    Setting(
      "webhook",
      "Deliver events to this URL, each as a POST with its record as JSON. See docs/service.md.",
      "url", details: "May be given several times.",
      valid:
        "write a URL of http or https in visible ASCII characters, such as "
        + "https://example.com/beacons", read: WebhookURL.init))
  var webhook: [WebhookURL]

  @Option(
    .file(
      "webhook-secret-file",
      "A file with the secret that signs what is delivered: whsec_ and Base64.",
      details: "Its first line counts; nobody else should be able to read it."
    ).rare)
  var webhookSecretFile: String?

  @Option(
    Setting(
      "webhook-events", "The events to deliver, with commas: \(WebhookEvents.names).", "events",
      shown: "enter,exit", valid: "write some of \(WebhookEvents.names), such as enter,exit",
      read: WebhookEvents.init(argument:)
    ).rare)
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
    guard let secret = WebhookSecret(try secretLine(of: path, "secret")) else {
      throw CommandError(
        .badData,
        "\(path): a secret is a line of whsec_ and 24 to 64 bytes in Base64; make one with: "
          + "echo whsec_$(openssl rand -base64 32)")
    }
    return secret
  }
}

/// Returns the first line of a file with a secret of a kind.
func secretLine(of path: String, _ kind: String) throws(CommandError) -> [UInt8] {
  // A pipe or a terminal has no readers but this one.
  if let file = try? Stat(FilePath(path)), file.type == .regular,
    file.permissions.contains(.otherRead)
  {
    printError(
      "beaconscan: \(path): every user of this machine can read the \(kind); restrict it: chmod "
        + "go-rwx \(path)")
  }
  func isEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
  // A pipe may stay open after the line.
  let bytes = try Interrupt.endingAtOnce { () throws(CommandError) in
    try readFile(path, kind, upTo: 65535, endsAt: isEnd)
  }
  return Array(bytes.prefix { !isEnd($0) })
}

struct WebhookEvents {
  let kinds: Set<String>

  private static let all = ["enter", "exit", "state", "visit", "health"]
  static let names = all.joined(separator: ", ")

  init?(argument: String) {
    let kinds = argument.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    guard kinds.allSatisfy(Self.all.contains) else { return nil }
    self.kinds = Set(kinds)
  }
}
