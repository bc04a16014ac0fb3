import Dispatch
import Glibc
import Scanning
import Synchronization

/// A switch that turns an adapter on in the background, because that can take seconds: at once, or
/// after ten seconds, then ever later, if somebody switched it off.
struct PowerSwitch {
  private var backoff = Backoff.quick
  /// The growing wait after each time that a person switched the adapter off.
  private var patience = Backoff.slow
  private var next: MonotonicTime?
  private let attempt = Attempt()
  private let switchOn: @Sendable (UInt16) throws(HCISocketError) -> Void

  private final class Attempt: Sendable {
    /// The errno; `nil` during an attempt, and 0 after a success or before the first attempt.
    let errno = Mutex<Int32?>(0)
  }

  init(_ switchOn: @escaping @Sendable (UInt16) throws(HCISocketError) -> Void) {
    self.switchOn = switchOn
  }

  var outcome: Int32? { attempt.errno.withLock { $0 } }

  mutating func found() {
    next = nil
    backoff = .quick
  }

  mutating func wasSwitchedOff(at now: MonotonicTime) {
    backoff = .slow
    next = now.advanced(by: patience.next())
  }

  mutating func tryNow(_ index: UInt16, at now: MonotonicTime) {
    guard now >= next ?? now else { return }
    let starts = attempt.errno.withLock { errno in
      defer { errno = nil }
      return errno != nil
    }
    guard starts else { return }
    next = now.advanced(by: backoff.next())
    DispatchQueue.global(qos: .utility).async { [attempt, switchOn] in
      var result: Int32 = 0
      do throws(HCISocketError) {
        try switchOn(index)
      } catch {
        result = error.errno
      }
      attempt.errno.withLock { $0 = result }
    }
  }
}
