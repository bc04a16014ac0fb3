import Glibc
import SystemPackage

/// Metrics in Prometheus' text format, version 0.0.4.
package struct MetricsText {
  package typealias Samples = [(labels: [(String, String)], value: Double)]

  package static let type = "text/plain; version=0.0.4; charset=utf-8"

  package private(set) var text = ""
  /// What the name of each metric begins with.
  private let prefix: String

  package init(prefix: String) { self.prefix = prefix }

  /// Adds counters, whose names end in `_total`, or gauges.
  package mutating func family(_ name: String, _ help: String, _ samples: Samples) {
    head(name, Self.kind(name), help)
    for (labels, value) in samples { sample(name, labels, value) }
  }

  package mutating func single(_ name: String, _ help: String, _ value: Double) {
    family(name, help, [([], value)])
  }

  private static func kind(_ name: String) -> String {
    name.hasSuffix("_total") ? "counter" : "gauge"
  }

  package mutating func head(_ name: String, _ type: String, _ help: String) {
    text += "# HELP \(prefix)\(name) \(help)\n# TYPE \(prefix)\(name) \(type)\n"
  }

  package mutating func sample(_ name: String, _ labels: [(String, String)], _ value: Double) {
    text += prefix + name
    if !labels.isEmpty {
      let list = labels.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
      text += "{\(list)}"
    }
    text += " \(Self.number(value))\n"
  }

  /// Adds the open event streams, and the answers by their status.
  package mutating func add(_ requests: RequestCounts) {
    single("event_streams", "Event streams that are open.", Double(requests.openStreams))
    family(
      "http_responses_total", "Answers to HTTP requests, by status.",
      requests.byStatus.map { ([("status", "\($0.status)")], Double($0.count)) })
  }

  /// Adds what the process uses. These metrics have no prefix.
  package mutating func addProcess() {
    for (name, help, value) in ProcessFigures.current {
      text += "# HELP \(name) \(help)\n# TYPE \(name) \(Self.kind(name))\n"
      text += "\(name) \(Self.number(value))\n"
    }
  }

  package static func number(_ value: Double) -> String {
    Int(exactly: value).map(String.init) ?? "\(value)"
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\"": result += "\\\""
      case "\n": result += "\\n"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

/// The kernel's counters for this process (proc(5)).
private enum ProcessFigures {
  /// The names, their help and the values.
  static var current: [(String, String, Double)] {
    var usage = rusage()
    // The structure outlives the call.
    _ = unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    let pages = read("/proc/self/statm").split(separator: " ").compactMap { Double($0) }
    let cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime)
    var figures = [("process_cpu_seconds_total", "User and system CPU time.", cpu)]
    if pages.count > 1 {
      let bytes = pages[1] * Double(sysconf(Int32(_SC_PAGESIZE)))
      figures.append(("process_resident_memory_bytes", "Resident memory.", bytes))
    }
    let switches = Double(usage.ru_nvcsw)
    figures.append(("process_context_switches_total", "Wake-ups of its threads.", switches))
    return figures
  }

  private static func read(_ path: String) -> String {
    guard let file = try? FileDescriptor.open(FilePath(path), .readOnly, options: [.closeOnExec])
    else { return "" }
    return
      (try? file.closeAfter {
        var text = [UInt8](repeating: 0, count: 4096)
        let count = try unsafe text.withUnsafeMutableBytes { try unsafe file.read(into: $0) }
        return String(decoding: text.prefix(count), as: UTF8.self)
      }) ?? ""
  }
}
