import Foundation
import Testing

/// How many reports of each address and signal strength there were. Two are equal only where nothing was
/// lost or doubled.
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
    return "of \(truth.total), received \(total); lost \(lost.prefix(5)) and more of \(lost.count),"
      + " too many \(extra.prefix(5)) of \(extra.count)"
  }

  init() {}

  /// Counts the lines of a file that begin with a text and hold another, by two fields that they have.
  ///
  /// There may be many thousands, and the guest's CPU is slow: so awk counts, which also is no code of ours.
  init(
    file path: String, lines start: String, with part: String = "", address: String, rssi: String
  )
    throws
  {
    let script = #"""
      index($0, start) == 1 && index($0, part) {
        who = $0; sub(".*\"" address "\":\"", "", who); sub("\".*", "", who)
        level = $0; sub(".*\"" rssi "\":", "", level); sub("[,}].*", "", level)
        count[who " " level]++
      }
      END { for (key in count) print count[key], key }
      """#
    try script.write(toFile: "/tmp/tally.awk", atomically: true, encoding: .utf8)
    let run = try Guest.run(
      "awk -v start='\(Self.escaped(start))' -v part='\(Self.escaped(part))' -v address=\(address)"
        + " -v rssi=\(rssi) -f /tmp/tally.awk \(path)")
    try #require(run.status == 0, "\(run.error)")
    for line in run.lines {
      let parts = line.split(separator: " ", maxSplits: 1)
      counts[String(parts[1])] = Int(parts[0])
    }
  }

  /// As awk takes it after -v.
  private static func escaped(_ text: String) -> String {
    text.replacing("\"", with: "\\\"")
  }

  /// What a controller reported.
  static func reported(by air: VirtualController, _ controller: String = "a") throws -> Tally {
    try Tally(
      file: air.path, lines: #"{"type":"report""#, with: #""controller":"\#(controller)""#,
      address: "addr", rssi: "rssi")
  }

  /// How many sightings `beaconscan scan --format json` has written so far.
  static func sightingCount(in path: String) throws -> Int {
    let output = try Guest.run(#"grep -c '^{"type":"sighting"' \#(path)"#).output
    return Int(output.dropLast()) ?? 0
  }

  /// What `beaconscan scan --format json` wrote.
  static func received(in path: String) throws -> Tally {
    try Tally(file: path, lines: #"{"type":"sighting""#, address: "address", rssi: "rssi")
  }
}
