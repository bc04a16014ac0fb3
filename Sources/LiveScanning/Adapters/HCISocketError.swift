import Glibc
package import Scanning

package struct HCISocketError: Error, Hashable, Sendable, CustomStringConvertible {
  package var call: String
  package var errno: Int32
  package var adapter: String?

  /// Creates an error of the last failed call on this thread, unless an errno is given.
  package init(_ call: String, errno: Int32 = Glibc.errno, adapter: UInt16? = nil) {
    self.call = call
    self.errno = errno
    self.adapter = adapter.map { "hci\($0)" }
  }

  /// The error of every call in a build without libbluetooth. No system call fails with `ENOPKG`.
  package static var notBuiltIn: HCISocketError { HCISocketError("", errno: ENOPKG) }

  package var condition: ScannerHealth.Condition {
    switch errno {
    case EAFNOSUPPORT, EPROTONOSUPPORT: .noBluetooth
    case EPERM, EACCES: .notPermitted
    case ENODEV, EPIPE: .removed
    case ENETDOWN: .down
    default: .systemError
    }
  }

  package var description: String {
    if errno == Self.notBuiltIn.errno {
      return "raw HCI sockets are not built in; build with the package trait RawHCI"
    }
    // The C library's text is valid until this thread's next call.
    let reason = unsafe String(cString: strerror(errno))
    return (adapter.map { "\($0): " } ?? "") + "\(call): \(reason)"
  }
}
