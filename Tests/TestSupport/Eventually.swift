import Glibc
import Synchronization

/// Waits until a condition holds, for five minutes at least: a test waits for what must come, and only what
/// never comes fails it, however busy the machine is. Standard error names a wait that was given up, and further ones
/// last half a minute at least.
///
/// - Returns: Whether it holds.
@discardableResult
package func eventually(
  file: StaticString = #fileID, line: Int = #line, _ condition: () throws -> Bool
) rethrows -> Bool {
  var patience = Patience(place: (file, line))
  repeat {
    if try patience.look(condition) { return true }
    usleep(5000)
  } while patience.isLeft
  return false
}

/// Waits until a condition holds, as long as the other function, and lets other tasks run meanwhile.
///
/// - Returns: Whether it holds.
@discardableResult
package func eventually(
  file: StaticString = #fileID, line: Int = #line, _ condition: () throws -> Bool
) async rethrows -> Bool {
  var patience = Patience(place: (file, line))
  repeat {
    if try patience.look(condition) { return true }
    try? await Task.sleep(for: .milliseconds(5))
  } while patience.isLeft
  return false
}

private struct Patience {
  /// The number of looks at a condition before it is given up. Time alone does not count, because where other tests hold
  /// all threads it passes for this one without a look. A look that waits counts for several, but not for all.
  private static let (leastLooks, mostForOne) = (1000, 100)
  private static let (leastTime, leastTimeAfterOne) = (Duration.seconds(300), Duration.seconds(30))
  private static let wasGivenUp = Atomic(false)

  private let place: (file: StaticString, line: Int)
  private let began = ContinuousClock.now
  private var looks = 0

  init(place: (file: StaticString, line: Int)) { self.place = place }

  mutating func look(_ condition: () throws -> Bool) rethrows -> Bool {
    let start = ContinuousClock.now
    defer { looks += min(1 + Int((.now - start) / .milliseconds(5)), Self.mostForOne) }
    return try condition()
  }

  var isLeft: Bool {
    let time = ContinuousClock.now - began
    let isFirst = !Self.wasGivenUp.load(ordering: .relaxed)
    if looks < Self.leastLooks || time < (isFirst ? Self.leastTime : Self.leastTimeAfterOne) {
      return true
    }
    Self.wasGivenUp.store(true, ordering: .relaxed)
    let seconds = time.components.seconds
    let sentence = "✘ A wait of \(seconds) s was given up at \(place.file):\(place.line)\n"
    // The bytes outlive the call.
    _ = unsafe write(STDERR_FILENO, Array(sentence.utf8), sentence.utf8.count)
    return false
  }
}
