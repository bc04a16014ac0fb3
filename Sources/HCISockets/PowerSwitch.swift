import Dispatch
import Glibc
import Scanning
import Synchronization

/// Switches an adapter on, in the background, as that can take seconds: at once where it was found off, came
/// back or was unblocked; ten seconds later and ever more seldom where somebody switched it off.
struct PowerSwitch {
  private var backoff = Backoff.quick
  /// How long somebody who switches it off is let be: ever longer, if it is ever the same.
  private var patience = Backoff.slow
  private var next: MonotonicTime?
  private let attempt = Attempt()

  /// What a try came to.
  private final class Attempt: Sendable {
    /// `nil` while one is under way; 0 where the last one went well, before the first, too.
    let errno = Mutex<Int32?>(0)
  }

  /// The errno of the latest try; `nil` while one is under way.
  var outcome: Int32? { attempt.errno.withLock { $0 } }

  /// The adapter is there, or will be: the next time that it is off, it may be switched on at once.
  mutating func found() {
    next = nil
    backoff = .quick
  }

  /// Somebody switched it off.
  mutating func wasSwitchedOff(at now: MonotonicTime) {
    backoff = .slow
    next = now.advanced(by: patience.next())
  }

  /// Switches it on, if it is time to.
  mutating func tryNow(_ index: UInt16, at now: MonotonicTime) {
    guard now >= next ?? now else { return }
    let starts = attempt.errno.withLock { errno in
      defer { errno = nil }
      return errno != nil
    }
    guard starts else { return }
    next = now.advanced(by: backoff.next())
    DispatchQueue.global(qos: .utility).async { [attempt] in
      var result: Int32 = 0
      do throws(HCISocketError) {
        try Adapter.switchOn(index)
      } catch {
        result = error.errno
      }
      attempt.errno.withLock { $0 = result }
    }
  }
}
