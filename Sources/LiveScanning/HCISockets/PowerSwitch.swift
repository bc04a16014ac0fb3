import Dispatch
import Glibc
import Scanning
import Synchronization

/// Switches an adapter on, in the background, as that can take seconds: at once where it was found off, came back
/// or was unblocked; ten seconds later and ever more seldom where somebody switched it off.
struct PowerSwitch {
  private var backoff = Backoff.quick
  /// How long the adapter stays off after a person switched it off: longer each time.
  private var patience = Backoff.slow
  private var next: MonotonicTime?
  private let attempt = Attempt()
  private let switchOn: @Sendable (UInt16) throws(HCISocketError) -> Void

  /// The outcome of a try.
  private final class Attempt: Sendable {
    /// `nil` while one is under way; 0 where the last one went well, before the first, too.
    let errno = Mutex<Int32?>(0)
  }

  init(_ switchOn: @escaping @Sendable (UInt16) throws(HCISocketError) -> Void) {
    self.switchOn = switchOn
  }

  /// The errno of the latest try; `nil` while one is under way.
  var outcome: Int32? { attempt.errno.withLock { $0 } }

  /// Records that the adapter is there, or will be: the next time that it is off, it may be switched on at once.
  mutating func found() {
    next = nil
    backoff = .quick
  }

  /// Records that somebody switched it off.
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
