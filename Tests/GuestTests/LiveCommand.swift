import Foundation
import Synchronization
import Testing

/// A `beaconscan` that listens: its JSON lines as they come, and its end.
final class LiveCommand {
  /// A line, and when it came.
  struct Line {
    /// Seconds on CLOCK_MONOTONIC.
    var arrival: Double
    var fields: [String: Any]

    var type: String { fields["type"] as? String ?? "" }
    /// Of a health line, whether reception is lost.
    var isReceptionLost: Bool { fields["receptionLost"] as? Bool ?? false }
    subscript(_ field: String) -> String? { fields[field] as? String }
    /// The moment that the line itself has, in seconds since 1970.
    var wallTime: Double? { self["time"].flatMap(LiveCommand.seconds) }
  }

  /// Who runs it.
  enum User {
    case root
    /// Nobody, with no capability at all.
    case nobody
    /// Nobody, with CAP_NET_RAW alone.
    case scanner
    /// A person at a desktop: uid 1000, with no capability at all.
    case person

    /// What runs a program by them.
    var prefix: [String] {
      func user(_ id: Int) -> [String] {
        ["/usr/bin/setpriv", "--reuid=\(id)", "--regid=\(id)", "--clear-groups"]
      }
      return switch self {
      case .root: []
      case .nobody: user(65534) + ["--inh-caps=-all"]
      case .scanner: user(65534) + ["--inh-caps=-all,+net_raw", "--ambient-caps=+net_raw"]
      case .person: user(1000) + ["--inh-caps=-all"]
      }
    }
  }

  private let child: Child
  private let pipe = Pipe()
  private let buffer = LineBuffer()
  private var read = 0
  private var known: [Line] = []

  /// Starts it, by a user, with `--format json` added to its arguments.
  convenience init(_ arguments: String..., by user: User = .root) throws {
    try self.init(arguments, by: user)
  }

  /// Starts it, by a user, with `--format json` added to its arguments.
  init(_ arguments: [String], by user: User) throws {
    let line = user.prefix + [Guest.beaconscan] + arguments + ["--format", "json"]
    child = try Child(line[0], Array(line.dropFirst()), output: .pipe(pipe))
    try? pipe.fileHandleForWriting.close()
    let (file, buffer) = (pipe.fileHandleForReading.fileDescriptor, buffer)
    Thread { buffer.fill(from: file) }.start()
  }

  /// Its process.
  var id: Int32 { child.id }
  var isRunning: Bool { child.isRunning }
  /// What it has written to standard error.
  var error: String { child.error }

  /// All lines so far.
  var lines: [Line] {
    let raw = buffer.lines(from: read)
    read += raw.count
    known += raw.map { arrival, bytes in
      let object = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
      if object == nil { Issue.record("no JSON: \(String(decoding: bytes, as: UTF8.self))") }
      return Line(arrival: arrival, fields: object ?? [:])
    }
    return known
  }

  /// Lines of a type that came from a moment on.
  func lines(_ type: String, since moment: Double = 0) -> [Line] {
    lines.filter { $0.type == type && $0.arrival >= moment }
  }

  /// The health states that were reported from a moment on.
  func health(since moment: Double = 0) -> [String] {
    lines("health", since: moment).compactMap { $0["state"] }
  }

  /// Waits for a line.
  func line(
    _ type: String, since moment: Double = 0,
    where isMeant: (Line) -> Bool = { _ in true }
  ) -> Line? {
    var found: Line?
    Guest.wait {
      found = lines(type, since: moment).first(where: isMeant)
      return found != nil || !isRunning
    }
    return found
  }

  /// Waits for a health line by which reception is lost, or restored.
  func health(isReceptionLost: Bool, since moment: Double) -> Line? {
    line("health", since: moment) { $0.isReceptionLost == isReceptionLost }
  }

  /// Interrupts it and waits for its end.
  @discardableResult
  func interrupt() -> Int32 {
    child.send(SIGINT)
    return finish()
  }

  /// Waits for its end, and for all that it wrote.
  @discardableResult
  func finish() -> Int32 {
    let status = child.finish()
    Guest.wait { buffer.isAtEnd }
    return status
  }

  /// Seconds since 1970 of an RFC 3339 time in UTC with microseconds.
  static func seconds(_ text: String) -> Double? {
    let clock = text.dropFirst(11).dropLast().split(separator: ":").compactMap { Double($0) }
    let date = text.prefix(10).split(separator: "-").compactMap { Int($0) }
    guard clock.count == 3, date.count == 3 else { return nil }
    var parts = DateComponents()
    (parts.year, parts.month, parts.day) = (date[0], date[1], date[2])
    parts.timeZone = TimeZone(identifier: "UTC")
    guard let day = Calendar(identifier: .gregorian).date(from: parts) else { return nil }
    return day.timeIntervalSince1970 + clock.reduce(0) { $0 * 60 + $1 }
  }
}

/// Lines of a pipe with the moments at which they came, read by a thread of its own.
private final class LineBuffer: Sendable {
  private let state = Mutex<(lines: [(Double, [UInt8])], isAtEnd: Bool)>(([], false))

  var isAtEnd: Bool { state.withLock { $0.isAtEnd } }

  func lines(from start: Int) -> [(Double, [UInt8])] {
    state.withLock { Array($0.lines[start...]) }
  }

  func fill(from file: Int32) {
    var rest: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 65536)
    while true {
      // The array's memory is used during the call alone.
      let count = unsafe read(file, &bytes, bytes.count)
      guard count > 0 else { break }
      let now = Guest.now
      var parts = (rest + bytes[..<count]).split(
        separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      rest = Array(parts.removeLast())
      let whole = parts.map { (now, Array($0)) }
      state.withLock { $0.lines += whole }
    }
    state.withLock { $0.isAtEnd = true }
  }
}
