import Foundation
import Testing

/// The machine that the tests run on.
enum Guest {
  /// Whether this is the guest. Its second program says so.
  static let isHere = ProcessInfo.processInfo.environment["BEACONSCAN_GUEST"] != nil

  /// Whether tests that repeat something do it as often as is wanted before a release, instead of in short.
  static let isLong = ProcessInfo.processInfo.environment["GUEST_LONG"] == "1"

  /// The project's root, the same inside and outside.
  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// The command as it is released.
  static let beaconscan = root.appending(path: ".build/guest/built/beaconscan").path

  /// Seconds on CLOCK_MONOTONIC, the line of the controller's log.
  static var now: Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// Sets the wall clock forward by some seconds; a program of its own would end a wait of this process, which the wall
  /// clock times.
  static func setWallClock(forward seconds: Int) throws {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    time.tv_sec += seconds
    try #require(unsafe clock_settime(CLOCK_REALTIME, &time) == 0, "it may not set the clock")
  }

  /// What a run of a program came to.
  struct Run {
    var status: Int32
    var output: String
    var error: String

    var lines: [Substring] { output.split(separator: "\n") }
  }

  /// Runs a line of shell to its end; `beaconscan` is on its path. It must leave nothing running in the
  /// background: that is for ``Child``.
  @discardableResult
  static func run(_ script: String, limit: Double = patience) throws -> Run {
    let child = try Child("/bin/sh", ["-c", script], output: .file)
    let status = child.finish(limit: limit)
    return Run(status: status, output: child.output, error: child.error)
  }

  /// How long a test waits for what must come, in seconds. A guest on a busy machine runs at a fraction of
  /// its speed, so that only what never comes may fail a test.
  static let patience = 120.0

  /// Waits until a condition holds.
  ///
  /// - Returns: Whether it holds.
  @discardableResult
  static func wait(until condition: () throws -> Bool) rethrows -> Bool {
    let end = now + patience
    while try !condition() {
      if now > end { return false }
      usleep(20_000)
    }
    return true
  }

  /// The length of a file in bytes; 0 where there is none.
  static func size(of path: String) -> Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return attributes?[.size] as? Int ?? 0
  }

  /// Switches an adapter on, as a system does.
  static func up(_ adapter: String = "hci0") throws {
    let run = try run("hciconfig \(adapter) up")
    try #require(run.status == 0, "hciconfig \(adapter) up: \(run.error)")
  }
}
