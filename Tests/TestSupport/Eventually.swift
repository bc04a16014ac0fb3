import Glibc

/// Waits until a condition holds, for five minutes at most: a test waits for what must come, and only what
/// never comes fails it, however busy the machine is.
///
/// - Returns: Whether it holds.
@discardableResult
package func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
  let end = ContinuousClock.now.advanced(by: .seconds(300))
  while try !condition() {
    if ContinuousClock.now > end { return false }
    usleep(5000)
  }
  return true
}

/// Waits until a condition holds, for five minutes at most, and lets other tasks run meanwhile.
///
/// - Returns: Whether it holds.
@discardableResult
package func eventually(_ condition: () throws -> Bool) async rethrows -> Bool {
  let end = ContinuousClock.now.advanced(by: .seconds(300))
  while try !condition() {
    if ContinuousClock.now > end { return false }
    try? await Task.sleep(for: .milliseconds(5))
  }
  return true
}
