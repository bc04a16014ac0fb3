import Foundation
import Testing

/// What a process uses, by `/proc`.
struct ProcessUse {
  var residentKiB: Int
  var descriptors: Int
  /// Clock ticks of CPU, of which there are 100 a second.
  var ticks: Int

  init(_ id: Int32) throws {
    let status = try String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)
    let resident = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
    residentKiB = resident.split(separator: " ").compactMap { Int($0) }.first ?? 0
    // A file or a socket that is opened for a question, and closed, may be caught in between.
    descriptors =
      try (0..<10).map { _ in
        usleep(30_000)
        return try FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/fd").count
      }.min() ?? 0
    let line = try String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)
    let fields = line.split(separator: ")").last?.split(separator: " ") ?? []
    // Fields 14 and 15, utime and stime; the third is the first behind the name.
    ticks = (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0)
  }

  /// How often each thread of a process, but the caller's own, has waited and woken up.
  static func wakeUps(_ id: Int32) -> [String: Int] {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/task")) ?? []
    let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
    return threads.filter { own?.hasSuffix("/\($0)") != true }.reduce(into: [:]) { counts, thread in
      let status = try? String(contentsOfFile: "/proc/\(id)/task/\(thread)/status", encoding: .utf8)
      let line = status?.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
      counts[thread] = line?.split(separator: "\t").last.flatMap { Int($0) }
    }
  }

  /// How often a process wakes up in a second, over so many seconds; what a thread did that ended counts, but for its last
  /// two seconds.
  static func wakeUpRate(_ id: Int32, over seconds: Int) -> Double {
    let (began, first) = (Guest.now, wakeUps(id))
    var latest = first
    for _ in 0..<seconds / 2 {
      sleep(2)
      latest.merge(wakeUps(id)) { $1 }
    }
    let total = latest.reduce(0) { $0 + $1.value - (first[$1.key] ?? 0) }
    return Double(total) / (Guest.now - began)
  }

  /// Microseconds of CPU since another moment.
  func microseconds(since earlier: ProcessUse) -> Int { (ticks - earlier.ticks) * 10_000 }
}
