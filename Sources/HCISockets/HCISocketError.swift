import Glibc

/// A system call on an HCI socket that failed.
public struct HCISocketError: Error, Hashable, Sendable {
  /// Which call.
  public var call: String
  /// Its errno.
  public var errno: Int32
  /// The adapter, by its name on the host; `nil` where it is about none.
  public var adapter: String?

  init(_ call: String, adapter: UInt16? = nil) {
    self.call = call
    self.errno = Glibc.errno
    self.adapter = adapter.map { "hci\($0)" }
  }
}

extension HCISocketError: CustomStringConvertible {
  /// What failed, where and why.
  public var description: String {
    // The C library's text stays until the next call of this thread.
    let reason = unsafe String(cString: strerror(errno))
    return (adapter.map { "\($0): " } ?? "") + "\(call): \(reason)"
  }
}
