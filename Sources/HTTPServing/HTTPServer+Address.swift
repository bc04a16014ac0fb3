extension HTTPServer.Address {
  /// Reads `HOST:PORT`, a port of 127.0.0.1, or the path of a Unix socket.
  package init?(_ text: String) {
    if text.hasPrefix("/") {
      // `sun_path` has 108 bytes, including the final NUL.
      guard text.utf8.count < 108, !text.hasSuffix("/") else { return nil }
      self = .unix(path: text)
      return
    }
    func port(_ text: some StringProtocol) -> Int? {
      guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      return Int(text).flatMap { (0...65535).contains($0) ? $0 : nil }
    }
    if let port = port(text) {
      self = .host("127.0.0.1", port: port)
      return
    }
    guard let colon = text.lastIndex(of: ":"),
      let port = port(text[text.index(after: colon)...])
    else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    guard !host.isEmpty, !host.contains("["), !host.contains("]"), !host.contains("/") else {
      return nil
    }
    self = .host(String(host), port: port)
  }

  /// Whether only this machine reaches the address.
  package var isLocal: Bool {
    switch self {
    case .host(let host, _):
      host == "localhost" || host == "::1"
        || host.hasPrefix("127.")
          && host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E }
    case .unix, .inherited: true
    }
  }
}

extension AccessRules {
  /// Returns whether bytes can be a token: 16 to 4096 visible ASCII characters.
  package static func isToken(_ bytes: [UInt8]) -> Bool {
    (16...4096).contains(bytes.count) && bytes.allSatisfy { (0x21...0x7E).contains($0) }
  }

  /// Adds the hosts of the addresses, under which requests reach them.
  package mutating func add(hostsOf addresses: [HTTPServer.Address]) {
    for case .host(let name, _) in addresses where name != "0.0.0.0" && name != "::" {
      hosts.insert(name.contains(":") ? "[\(name)]" : name.lowercased())
    }
  }
}
