import Foundation
import Testing

/// Virtual controllers and what they receive: a process of `Tests/Guest/controller`. What it did is in its
/// log, and that is the truth that tests compare with.
final class VirtualController {
  /// The log's file.
  let path: String
  private let child: Child
  private let input = Pipe()
  private var read: UInt64 = 0
  private var known: [LogEntry] = []
  private var reportLines = 0
  private var notes = 0

  /// Starts it, and waits until the kernel has named each controller that the orders plug.
  init(_ orders: String...) throws {
    try #require(
      FileManager.default.fileExists(atPath: "/dev/vhci"), "the guest's kernel has no hci_vhci")
    path = "/tmp/controller-\(UUID().uuidString).jsonl"
    child = try Child(
      "/usr/bin/python3", ["-B", "Tests/Guest/controller", "--log", path, "-"], input: input,
      output: .file)
    for order in orders { try self.order(order) }
    try sync()
    // The kernel asks a new controller what it can, and that takes until it has asked all.
    let plugged = try entries("order").count { $0.fields["plug"] != nil }
    let isNamed = try Guest.wait {
      try entries("plug").count >= plugged
    }
    try #require(isNamed, "the kernel took no virtual controller: \(child.error)")
    usleep(300_000)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  /// Gives an order; Tests/Guest/README.md has them all.
  func order(_ json: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data((json + "\n").utf8))
  }

  /// Waits until all orders so far were taken.
  func sync() throws {
    notes += 1
    let note = "\(notes)"
    try order(#"{"note": "\#(note)"}"#)
    let isDone = try Guest.wait {
      try entries("order").contains { $0.fields["note"] as? String == note }
    }
    try #require(isDone, "the virtual controller takes no orders: \(child.error)")
  }

  /// Gives an order and waits until it was taken.
  ///
  /// - Returns: The time of that, in seconds on CLOCK_MONOTONIC.
  @discardableResult
  func perform(_ json: String) throws -> Double {
    try order(json)
    try sync()
    return try entries("order").last { $0.fields["note"] == nil }?.time ?? Guest.now
  }

  /// All of the log so far but what was reported.
  func log() throws -> [LogEntry] {
    guard let file = FileHandle(forReadingAtPath: path) else { return [] }
    try file.seek(toOffset: read)
    let data = try file.readToEnd() ?? Data()
    guard let end = data.lastIndex(of: UInt8(ascii: "\n")) else { return known }
    let whole = data[...end]
    read += UInt64(whole.count)
    for line in String(decoding: whole, as: UTF8.self).split(separator: "\n") {
      if line.hasPrefix(#"{"type":"report""#) {
        reportLines += 1
      } else {
        known.append(try LogEntry(line))
      }
    }
    return known
  }

  /// How many reports the kernel has taken so far.
  func reportCount() throws -> Int {
    _ = try log()
    return reportLines
  }

  /// Waits until the kernel has taken so many more reports.
  func waitForReports(_ count: Int) throws {
    let before = try reportCount()
    let isReached = try Guest.wait { try reportCount() >= before + count }
    try #require(isReached, "the controller sent \(reportLines - before) of \(count) reports")
  }

  /// Seconds from CLOCK_MONOTONIC to the time since 1970.
  var wallClockShift: Double {
    get throws {
      let plug = try #require(try entries("plug").first)
      return plug.wallTime - plug.time
    }
  }

  /// Waits until the kernel has switched a new adapter off again: 2 s after it asked the last question.
  func waitUntilSwitchedOff() throws {
    var (count, since) = (0, Guest.now)
    let isOff = try Guest.wait {
      let commands = try entries("command").count
      if commands != count { (count, since) = (commands, Guest.now) }
      return count > 0 && Guest.now - since > 3
    }
    try #require(isOff, "the kernel goes on asking")
  }

  /// What of one kind was logged, of one controller or all.
  func entries(_ type: String, of controller: String? = nil) throws -> [LogEntry] {
    try log().filter {
      $0.type == type && (controller == nil || $0.fields["controller"] as? String == controller)
    }
  }

  /// The state of a controller's scan as its host set it last.
  func scan(of controller: String = "a") throws -> ScanSetting {
    let last = try log().last { entry in
      (entry.type == "scan" || entry.type == "plug") && entry["controller"] == controller
    }
    return ScanSetting(last?.type == "scan" ? last?.fields ?? [:] : [:])
  }

  /// Ends it; its controllers are unplugged.
  func stop() throws {
    try? order(#"{"quit": true}"#)
    try? input.fileHandleForWriting.close()
    let status = child.finish()
    #expect(status == 0, "the virtual controller failed: \(child.error)")
  }
}

/// A line of a controller's log.
struct LogEntry {
  var type: String
  /// Seconds on CLOCK_MONOTONIC.
  var time: Double
  /// Seconds since 1970.
  var wallTime: Double
  var fields: [String: Any]

  init(_ line: Substring) throws {
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
    type = try #require(object["type"] as? String)
    time = try #require(object["t"] as? Double)
    wallTime = try #require(object["wall"] as? Double)
    // Of an order, its own fields.
    fields = object["order"] as? [String: Any] ?? object
  }

  subscript(_ field: String) -> String? { fields[field] as? String }
}

/// How a host asked a controller to scan.
struct ScanSetting {
  var isOn: Bool
  var isActive: Bool
  var isExtended: Bool
  /// Whether the duplicate filter is on.
  var isFiltered: Bool
  var phys: [String]
  /// Milliseconds by PHY.
  var interval: [Double]
  var window: [Double]

  /// The share of time that it listens.
  var duty: Double {
    isOn ? zip(window, interval).reduce(0) { $0 + $1.0 / $1.1 } : 0
  }

  init(_ fields: [String: Any]) {
    isOn = fields["on"] as? Bool ?? false
    isActive = fields["active"] as? Bool ?? false
    isExtended = fields["extended"] as? Bool ?? false
    isFiltered = fields["filter"] as? Bool ?? false
    phys = fields["phys"] as? [String] ?? []
    interval = fields["interval"] as? [Double] ?? []
    window = fields["window"] as? [Double] ?? []
  }
}
