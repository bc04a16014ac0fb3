import Glibc

/// Measures steps: each is run for a while, several times, and the median counts.
struct Harness {
  /// Samples a step.
  static let samples = 15
  /// How long a sample lasts at least, in nanoseconds.
  static let shortest: Int64 = 20_000_000

  /// Measures a step and prints its name and the nanoseconds of one of its operations.
  ///
  /// - Parameters:
  ///   - name: What is measured.
  ///   - operations: How many operations a call of `body` does.
  ///   - body: The step. What it returns is kept from being optimised away.
  static func measure(_ name: String, operations: Int, _ body: () -> Int) {
    var calls = 1
    while time(calls, body) < shortest { calls *= 2 }
    let times = (0..<samples).map { _ in Double(time(calls, body)) }.sorted()
    let median = times[samples / 2] / Double(calls * operations)
    let spread = (times[samples * 3 / 4] - times[samples / 4]) / times[samples / 2] * 100
    let tenths = Int((median * 10).rounded())
    print("\(name)\t\(tenths / 10).\(tenths % 10)\t\(Int(spread.rounded()))")
  }

  /// Measures a step that is not to be taken again at once: each sample is one call, after a rest.
  ///
  /// - Parameters:
  ///   - name: What is measured.
  ///   - operations: How many operations a call of `body` does.
  ///   - milliseconds: How long the rest is.
  ///   - body: The step.
  static func measure(
    _ name: String, operations: Int, afterRestOf milliseconds: UInt32, _ body: () -> Int
  ) {
    _ = body()
    let times = (0..<samples).map { _ in
      usleep(milliseconds * 1000)
      return Double(time(1, body))
    }.sorted()
    let spread = (times[samples * 3 / 4] - times[samples / 4]) / times[samples / 2] * 100
    let tenths = Int((times[samples / 2] / Double(operations) * 10).rounded())
    print("\(name)\t\(tenths / 10).\(tenths % 10)\t\(Int(spread.rounded()))")
  }

  private static func time(_ calls: Int, _ body: () -> Int) -> Int64 {
    let start = now()
    var sum = 0
    for _ in 0..<calls { sum &+= body() }
    let end = now()
    keep(sum)
    return end - start
  }

  private static func now() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  @inline(never)
  private static func keep(_ value: Int) {
    if value == .min { print(value) }
  }
}
