import Glibc

/// Who has HCI sockets on this host, as `/proc/net/hci` lists them.
enum SocketCensus {
  /// Whether nobody but this process has one, bound to whatever it may be: then nobody else can have
  /// started a scan and still be there to stop it.
  static func isAlone(list: String? = text(of: "/proc/net/hci")) -> Bool {
    guard let list else { return false }
    return inodes(in: list).isSubset(of: ownInodes())
  }

  /// The sockets' inodes: the sixth column behind a line of titles.
  static func inodes(in list: String) -> Set<UInt64> {
    var inodes: Set<UInt64> = []
    for line in list.split(separator: "\n").dropFirst() {
      let columns = line.split(separator: " ", omittingEmptySubsequences: true)
      if columns.count >= 6, let inode = UInt64(columns[5]) { inodes.insert(inode) }
    }
    return inodes
  }

  /// The inodes of this process's sockets.
  private static func ownInodes() -> Set<UInt64> {
    var inodes: Set<UInt64> = []
    for name in names(in: "/proc/self/fd") {
      guard let descriptor = Int32(name) else { continue }
      var status = stat()
      // The structure outlives the call.
      guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else {
        continue
      }
      inodes.insert(UInt64(status.st_ino))
    }
    return inodes
  }
}
