import Glibc

/// The number of times that a condition is looked at: for five minutes where the machine is at rest. Time does not
/// count, because where other tests hold all threads it passes for this one without a look.
private let looks = 60_000

/// Waits until a condition holds, for five minutes at least: a test waits for what must come, and only what
/// never comes fails it, however busy the machine is.
///
/// - Returns: Whether it holds.
@discardableResult
package func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
  for _ in 0..<looks {
    if try condition() { return true }
    usleep(5000)
  }
  return false
}

/// Waits until a condition holds, for five minutes at least, and lets other tasks run meanwhile.
///
/// - Returns: Whether it holds.
@discardableResult
package func eventually(_ condition: () throws -> Bool) async rethrows -> Bool {
  for _ in 0..<looks {
    if try condition() { return true }
    try? await Task.sleep(for: .milliseconds(5))
  }
  return false
}
