import Advertising
import Scanning
import Testing

@testable import Records
@testable import Regions

/// Tables at the widths of terminals: what is shown is whole or marked.
@Suite struct TableWidthTests {
  private static let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"

  private static func sighting(_ uuid: String = uuid, minor: UInt16 = 100) -> Sighting {
    let identity = BeaconIdentity(
      uuid: ProximityUUID(uuid) ?? ProximityUUID(high: 0, low: 0), major: 1, minor: minor)
    let time: Int64 = 1_768_467_600_400_021_000
    return Sighting(
      time: MonotonicTime(nanoseconds: time), wallTime: WallClockTime(nanoseconds: time),
      beacon: identity, measuredPower: -59, rssi: -64,
      address: BluetoothAddress(rawValue: 0xC04B_494F_534B), addressType: .random)
  }

  /// The lines of a scan, one by one.
  @Test(arguments: [
    (
      40,
      [
        "TIME       MAJOR  MINOR  RSSI  …",  //
        "09:00:00Z      1    100   -64",
      ]
    ),
    (
      60,
      [
        "TIME       UUID           MAJOR  MINOR  RSSI  …",
        "09:00:00Z  E2C56DB5…96E0      1    100   -64",
      ]
    ),
    (
      80,
      [
        "TIME       UUID           MAJOR  MINOR  POWER  RSSI  ADDRESS",
        "09:00:00Z  E2C56DB5…96E0      1    100    -59   -64  C0:4B:49:4F:53:4B",
      ]
    ),
    (
      120,
      [
        "TIME                         UUID                                  MAJOR  MINOR  POWER  RSSI  ADDRESS",
        "2026-01-15 09:00:00.400021Z  E2C56DB5-DFFB-48D2-B060-D0F5A71096E0      1    100    -59   -64  C0:4B:49:4F:53:4B",
      ]
    ),
  ])
  func scan(width: Int, lines: [String]) {
    let table = Table(Sighting.truth.columns, .utc, width: width)
    #expect([table.header, table.line(Self.sighting())] == lines)
    let complete = Table(Sighting.truth.columns, .utc)
    if width == 120 { #expect([complete.header, complete.line(Self.sighting())] == lines) }
  }

  /// At every width: no line is wider, a column that is shown has its whole title, and what is missing is marked.
  @Test func everyWidth() throws {
    let event = try MonitorEvent(
      .exit, time: WallClockTime(nanoseconds: 0), region: "the lobby of the house", state: .outside,
      dwell: 78.3,
      reason: RegionTransition.Reason(.sighting, samples: 1),
      offset: .zero, rules: RegionRules())
    for width in 40...250 {
      let scan = Table(Sighting.truth.columns, width: width)
      check([scan.header, scan.line(Self.sighting())], Sighting.truth.columns.count, width)
      let monitor = Table(MonitorEvent.row(regionWidth: 22).columns, width: width)
      check([monitor.header, monitor.line(event)], 6, width)
    }
    let monitor = Table(MonitorEvent.row(regionWidth: 22).columns, .utc, width: 40)
    #expect(
      [monitor.header, monitor.line(event)] == [
        "TIME       EVENT  REGION       INSIDE  …", "00:00:00Z  EXIT   the lob…     78.3 s",
      ])
  }

  private func check(_ lines: [String], _ count: Int, _ width: Int) {
    let titles = lines[0].split(separator: " ")
    #expect(lines.allSatisfy { $0.columns <= width }, "\(width): \(lines)")
    let known: Set<Substring> = [
      "TIME", "UUID", "MAJOR", "MINOR", "POWER", "RSSI", "ADDRESS", "EVENT", "REGION", "INSIDE",
      "BEACON", "REASON", "…",
    ]
    #expect(known.isSuperset(of: titles), "\(width): \(lines)")
    #expect((titles.count { $0 != "…" } < count) == (titles.last == "…"), "\(width): \(lines)")
  }

  /// UUIDs that would look the same are shown whole.
  @Test func ambiguousUUIDs() {
    let others = [Self.sighting(), Self.sighting("E2C56DB5-0000-0000-0000-D0F5A71096E0")]
    let table = Table(Sighting.truth.columns, .utc, width: 70)
    let lines = table.lines(others)
    #expect(lines[0].hasPrefix("TIME       UUID                                  MAJOR"))
    #expect(
      lines[1].contains(Self.uuid) && lines[2].contains("E2C56DB5-0000-0000-0000-D0F5A71096E0"))
    #expect(lines.allSatisfy { $0.columns <= 70 })
    #expect(table.lines([Self.sighting()])[1].contains("E2C56DB5…96E0"))
  }

  /// What does not fit the height is counted.
  @Test(arguments: [
    (1, ["… 200 more"]), (2, ["N", "… 200 more"]), (4, ["N", "0", "1", "… 198 more"]),
  ])
  func height(height: Int, lines: [String]) {
    let table = Table([Column<Int>("N") { "\($0)" }])
    #expect(table.lines(Array(0..<200), height: height) == lines)
    #expect(table.lines(Array(0..<200), height: 201).count == 201)
    #expect(table.lines(Array(0..<200), height: 200).last == "… 2 more")
  }

  /// A wide character occupies two columns; a combined one, one.
  @Test(arguments: [
    ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("🏢", 2), ("✅⚡⭐⌚", 8), ("☎→…", 3), ("🌶", 1),
    ("🇩🇪", 2), ("한글", 4), ("\u{1112}\u{1161}\u{11AB}", 2), ("ｆｕ", 4), ("นี่คือ", 3), ("हिन्दी", 5),
    ("か\u{3099}", 2),
    ("שלום", 4), ("مرحبا", 5), ("𠮷", 2),
  ])
  func columns(text: String, columns: Int) { #expect(text.columns == columns) }

  @Test func cut() {
    #expect("日本語".cut(to: 5) == "日本…" && "日本語".cut(to: 4) == "日…" && "日本語".cut(to: 6) == "日本語")
    #expect("abc".cut(to: 0) == "" && "abc".cut(to: 1) == "…")
    #expect("e\u{301}te\u{301}s".cut(to: 3) == "e\u{301}t…" && "✅✅".cut(to: 3) == "✅…")
    let table = Table([Column<String>("NAME") { $0 }, Column("N") { _ in "1" }])
    #expect(table.lines(["日本", "abcd"]) == ["NAME  N", "日本  1", "abcd  1"])
    #expect(table.lines(["✅⚡", "abcd"]) == ["NAME  N", "✅⚡  1", "abcd  1"])
  }

  /// Nothing that was received acts on a terminal, or moves what stands beside it.
  @Test(arguments: [
    ("a\u{1B}[2Jb\n\u{202E}\u{9B}1\u{7F}é", "a?[2Jb???1?é"), ("\u{301}lead", "?lead"),
    ("e\u{301}", "e\u{301}"), ("❤\u{FE0F}", "❤"), ("👍\u{1F3FD}", "👍"), ("a\u{1F3FD}", "a\u{1F3FD}"),
    ("👨\u{200D}👩", "👨?👩"), ("\u{E000}\u{378}", "??"), ("\u{FFFD}", "\u{FFFD}"),
    ("1\u{FE0F}\u{20E3}", "1\u{20E3}"),
  ])
  func printable(text: String, shown: String) {
    let table = Table([Column<String>("NAME") { $0 }])
    #expect(table.lines([text]) == ["NAME", shown])
  }

  @Test func wrapped() {
    #expect("a bc def".wrapped(to: 4) == ["a bc", "def"])
    #expect("abcdef g".wrapped(to: 4) == ["abc…", "g"])
    #expect("abcdef g".wrapped(to: 4, cutsWords: false) == ["abcdef", "g"])
  }

  @Test func zones() {
    let time = WallClockTime(nanoseconds: 1_768_467_600_400_021_000)
    #expect(ClockZone.utc.text(time) == "2026-01-15 09:00:00.400Z")
    #expect(ClockZone.utc.text(time, digits: 0) == "2026-01-15 09:00:00Z")
    #expect(ClockZone.utc.clock(time) == "09:00:00")
    for nanoseconds in [.min, -1, 0, 1, .max] as [Int64] {
      let time = WallClockTime(nanoseconds: nanoseconds)
      #expect(ClockZone.utc.text(time).utf8.count == 24)
      #expect(ClockZone.local.text(time, digits: 6).utf8.count == 32)
    }
  }
}
