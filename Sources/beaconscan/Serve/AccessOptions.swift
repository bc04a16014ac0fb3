import ArgumentParser
import Frontends
import Glibc
import HTTPServing
import KioskService

/// Whether a text is the name of a host, with a port or without.
private func isWord(_ text: Substring) -> Bool {
  !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
}

struct AccessOptions: ParsableArguments {
  @Option(
    Setting(
      "listen", "Where to listen: HOST:PORT, a port of 127.0.0.1, or the path of a Unix socket.",
      "address",
      details:
        "May be given several times. Without it, the sockets that systemd passes are used, where it "
        + "passes any.", shown: "127.0.0.1:8732",
      valid:
        "write HOST:PORT such as 127.0.0.1:8732, a port from 0 to 65535, or the path of a Unix socket "
        + "such as /run/beacons", read: ListenAddress.init(argument:)))
  var listen: [ListenAddress]

  @Option(
    .file(
      "token-file",
      "A file with the secret that permits changes, and reading from other machines.",
      details: "Its first line counts, of 16 to 4096 bytes; nobody else should be able to read it.")
  )
  var tokenFile: String?

  @Option(
    .text(
      "host", "A name or address under which the service may be addressed too, beside localhost.",
      "name", details: "May be given several times.",
      valid: "write a name such as kiosk.local or 192.0.2.7", isValid: { isWord($0[...]) }
    ).rare)
  var host: [String]

  @Option(
    .text(
      "allow-origin",
      "The origin of pages elsewhere that may read, such as http://localhost:3000.", "origin",
      details: "May be given several times.",
      valid: "write an origin, http://NAME or http://NAME:PORT, without a path"
    ) { text in
      ["http://", "https://"].contains {
        text.hasPrefix($0) && isWord(text.dropFirst($0.count))
      }
    }.rare)
  var allowOrigin: [String]

  func validate() throws {
    if tokenFile == nil, let open = listen.first(where: { !$0.isLocal }) {
      throw ValidationError(
        "--listen \(open.text) can be reached from other machines; give --token-file FILE too, or "
          + "listen on 127.0.0.1 or a Unix socket.")
    }
  }

  var rules: AccessRules {
    get throws {
      var rules = AccessRules()
      rules.hosts.formUnion(host.map { $0.lowercased() })
      rules.add(hostsOf: listen.map(\.address))
      rules.origins = Set(allowOrigin)
      rules.token = try tokenFile.map(Self.token)
      rules.isTokenNeededToRead = listen.contains { !$0.isLocal }
      if listen.isEmpty, SystemdLink.inheritedSockets.contains(where: Self.isOpen) {
        guard tokenFile != nil else {
          throw CommandError(
            .usage,
            "a socket of systemd can be reached from other machines; give --token-file FILE too, or "
              + "let ListenStream= of the socket unit be of 127.0.0.1 or a path")
        }
        rules.isTokenNeededToRead = true
      }
      return rules
    }
  }

  var addresses: [HTTPServer.Address] {
    get throws {
      if !listen.isEmpty { return listen.map(\.address) }
      let inherited = SystemdLink.inheritedSockets
      if !inherited.isEmpty { return inherited.map { .inherited(descriptor: $0) } }
      return [.host("127.0.0.1", port: 8732)]
    }
  }

  private static func isOpen(_ socket: CInt) -> Bool {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    // The storage has room for every kind of address, and is read as the kind that it states.
    return unsafe withUnsafeMutableBytes(of: &storage) { bytes in
      guard let base = bytes.baseAddress else { return true }
      let address = unsafe base.assumingMemoryBound(to: sockaddr.self)
      guard unsafe getsockname(socket, address, &length) == 0 else { return true }
      switch unsafe Int32(address.pointee.sa_family) {
      case AF_UNIX: return false
      case AF_INET:
        let host = unsafe base.assumingMemoryBound(to: sockaddr_in.self).pointee.sin_addr.s_addr
        return UInt32(bigEndian: host) >> 24 != 127
      case AF_INET6:
        var host = unsafe base.assumingMemoryBound(to: sockaddr_in6.self).pointee.sin6_addr
        return unsafe withUnsafeBytes(of: &host) { host in
          unsafe host.dropLast().contains { $0 != 0 } || host.last != 1
        }
      default: return true
      }
    }
  }

  private static func token(_ path: String) throws -> [UInt8] {
    let token = try secretLine(of: path, "token")
    guard AccessRules.isToken(token) else {
      throw CommandError(
        .badData,
        "\(path): a token is a line of 16 to 4096 visible ASCII characters; make one with: openssl rand -hex 32"
      )
    }
    return token
  }
}

struct ListenAddress {
  let text: String
  let address: HTTPServer.Address

  init?(argument: String) {
    guard let address = HTTPServer.Address(argument) else { return nil }
    (text, self.address) = (argument, address)
  }

  var isLocal: Bool { address.isLocal }
}
