import Glibc

/// Who has HCI sockets on this host, as `/proc/net/hci` lists them.
enum SocketCensus {
  /// Whether there are no others than these, bound to whatever they may be: then nobody else can have
  /// started a scan and still be there to stop it.
  static func isAlone(
    but descriptors: [Int32], list: String? = text(of: "/proc/net/hci")
  ) -> Bool {
    guard let list else { return false }
    let ours = Set(descriptors.compactMap(inode))
    return HCIPrograms.users(in: list).keys.allSatisfy(ours.contains)
  }

  private static func inode(of descriptor: Int32) -> UInt64? {
    var status = stat()
    // The structure outlives the call.
    return unsafe fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : nil
  }
}
