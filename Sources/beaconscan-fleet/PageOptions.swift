import ArgumentParser
import FleetPage
import HTTPServing

/// Where the page is served, and who may read it.
struct PageOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "HOST:PORT, a port of 127.0.0.1, or the path of a Unix socket. May be given several times. "
        + "Default: 127.0.0.1:8733.", valueName: "address"))
  private var listen: [String] = []

  @Option(
    help: ArgumentHelp(
      "A file whose first line is the secret that reading from other machines needs.",
      valueName: "file"))
  private var tokenFile: String?

  @Option(
    help: ArgumentHelp(
      "A name under which the page may be addressed too. May be given several times.",
      valueName: "name"))
  private var host: [String] = []

  @Option(
    help: ArgumentHelp(
      "The origin of pages elsewhere that may read. May be given several times.",
      valueName: "origin"))
  private var allowOrigin: [String] = []

  func validate() throws { _ = try addresses }

  var addresses: [HTTPServer.Address] {
    get throws {
      try (listen.isEmpty ? ["127.0.0.1:8733"] : listen).map { text in
        guard let address = HTTPServer.Address(text) else {
          throw ValidationError(
            "--listen must be HOST:PORT such as 127.0.0.1:8733, a port from 0 to 65535, or the "
              + "path of a Unix socket, not '\(text)'")
        }
        guard address.isLocal || tokenFile != nil else {
          throw ValidationError(
            "--listen \(text) can be reached from other machines; give --token-file FILE too, or "
              + "listen on 127.0.0.1 or a Unix socket")
        }
        return address
      }
    }
  }

  var rules: AccessRules {
    get throws {
      var rules = AccessRules()
      rules.hosts.formUnion(host.map { $0.lowercased() })
      rules.add(hostsOf: try addresses)
      rules.origins = Set(allowOrigin)
      rules.openPaths = FleetRoutes.openPaths
      rules.isTokenNeededToRead = tokenFile != nil
      if let tokenFile {
        let token = Array(
          try Files.bytes(tokenFile).prefix {
            $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r")
          })
        guard AccessRules.isToken(token) else {
          throw FleetError(
            .badData,
            "\(tokenFile): a token is a line of 16 to 4096 visible ASCII characters; make one "
              + "with: openssl rand -hex 32")
        }
        rules.token = token
      }
      return rules
    }
  }
}
