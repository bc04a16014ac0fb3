/// The address of a server: `host`, `host:port`, `[IPv6]` or `[IPv6]:port`.
package struct BrokerAddress: Hashable, Sendable {
  package let host: String
  package let port: UInt16?

  package init?(argument: String) {
    let isName = argument.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
    guard !argument.isEmpty, isName else { return nil }
    if argument.hasPrefix("["), let end = argument.firstIndex(of: "]") {
      host = String(argument[argument.index(after: argument.startIndex)..<end])
      let rest = argument[argument.index(after: end)...]
      guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
      port = UInt16(rest.dropFirst())
      guard !host.isEmpty, rest.isEmpty || port ?? 0 > 0 else { return nil }
      return
    }
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
    // More colons belong to an IPv6 address.
    guard parts.count == 2 else {
      host = argument
      port = nil
      return
    }
    guard !parts[0].isEmpty, let number = UInt16(parts[1]), number > 0 else { return nil }
    host = String(parts[0])
    port = number
  }
}
