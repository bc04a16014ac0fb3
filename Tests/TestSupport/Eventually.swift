import Glibc

/// How often, and for how many seconds, a condition is looked at before it is given up. Time alone does not count, because
/// where other tests hold all threads it passes for this one without a look; nor do looks, of which one may take long.
private let (leastLooks, leastTime) = (1000, 300.0)

/// Waits until a condition holds, for five minutes at least: a test waits for what must come, and only what
/// never comes fails it, however busy the machine is.
///
/// - Returns: Whether it holds.
@discardableResult
package func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
  var patience = Patience()
  while !(try condition()) {
    guard patience.isLeft else { return false }
    usleep(5000)
  }
  return true
}

/// Waits until a condition holds, for five minutes at least, and lets other tasks run meanwhile.
///
/// - Returns: Whether it holds.
@discardableResult
package func eventually(_ condition: () throws -> Bool) async rethrows -> Bool {
  var patience = Patience()
  while !(try condition()) {
    guard patience.isLeft else { return false }
    try? await Task.sleep(for: .milliseconds(5))
  }
  return true
}

private struct Patience {
  private let began = ContinuousClock.now
  private var looks = 0

  /// Counts a look; returns whether there may be another one.
  var isLeft: Bool {
    mutating get {
      looks += 1
      return looks < leastLooks || .now - began < .seconds(leastTime)
    }
  }
}
