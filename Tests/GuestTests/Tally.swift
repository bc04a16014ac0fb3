import Foundation
import Testing

/// How often which address was heard how loud. Two are equal only where nothing was lost or doubled.
struct Tally: Equatable {
  private(set) var counts: [String: Int] = [:]

  /// How many in all.
  var total: Int { counts.values.reduce(0, +) }

  mutating func add(_ address: some StringProtocol, _ rssi: some StringProtocol) {
    counts["\(address) \(rssi)", default: 0] += 1
  }

  /// What this has more often than another: at most a few, for a message.
  func missing(from other: Tally) -> [String] {
    counts.compactMap { key, count in
      let less = count - other.counts[key, default: 0]
      return less > 0 ? "\(key) × \(less)" : nil
    }
  }

  /// What differs, in words; empty if nothing does.
  func difference(from truth: Tally) -> String {
    let lost = truth.missing(from: self)
    let extra = missing(from: truth)
    guard !lost.isEmpty || !extra.isEmpty else { return "" }
    return "of \(truth.total), heard \(total); lost \(lost.prefix(5)) and more of \(lost.count),"
      + " too many \(extra.prefix(5)) of \(extra.count)"
  }

  init() {}

  /// Reads the lines of a file that begin with a text and hold another, by two fields that they have.
  ///
  /// There may be many thousands, and the guest's CPU is slow: this only cuts lines at their quotes.
  init(
    file path: String, lines start: String, with part: String? = nil, address: Substring,
    rssi: Substring
  ) throws {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    for line in text.split(separator: "\n") where line.hasPrefix(start) {
      let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
      if let part, !parts.contains(Substring(part)) { continue }
      guard let name = parts.firstIndex(of: address), name + 2 < parts.count,
        let level = parts.firstIndex(of: rssi), level + 1 < parts.count
      else {
        Issue.record("a line without \(address) or \(rssi): \(line)")
        continue
      }
      add(parts[name + 2], parts[level + 1].dropFirst().prefix { $0 != "," && $0 != "}" })
    }
  }

  /// What a controller reported.
  static func reported(by air: VirtualController, _ controller: String = "a") throws -> Tally {
    try Tally(
      file: air.path, lines: #"{"type":"report""#, with: controller, address: "addr", rssi: "rssi")
  }

  /// What `beaconscan scan --format json` wrote.
  static func heard(in path: String) throws -> Tally {
    try Tally(file: path, lines: #"{"type":"sighting""#, address: "address", rssi: "rssi")
  }
}
