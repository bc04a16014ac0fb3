import Scanning
import Testing

@testable import Records

/// One description gives the JSON, the schema, the comma-separated values and the table.
@Suite struct RecordTypeTests {
  private struct Part: Sendable {
    var note = "a"
    var level: Double?
  }

  private struct Thing: Sendable {
    var name = "x"
    var count = 3
    var share: Double? = 0.125
    var part: Part? = Part()
    var more: Int?
  }

  private static let part = RecordType<Part>(
    nil,
    [
      Field("note", .text) { $0.note },
      Field("level", .number(0...).orNull, decimals: 1) { $0.level },
    ])

  private static let thing = RecordType<Thing>(
    "thing",
    [
      Field("name", .text, column: Column()) { $0.name },
      Field("count", .count, column: Column("N", .right, isLate: true)) { $0.count },
      Field(
        "share", .number(0...1).orNull, decimals: 2,
        column: Column(nil, .right, width: 7) { fixed($0.share, 1, "%") }
      ) { $0.share },
      Field("part", part, isNullable: true) { $0.part },
      Field("more", .count, .together("extra"), isInCSV: false) { $0.more?.fieldValue ?? .absent },
      Field("twice", .count, .together("extra"), isInCSV: false) {
        $0.more.map { $0 * 2 }?.fieldValue ?? .absent
      },
    ])

  private func json(_ thing: Thing) -> String {
    var bytes: [UInt8] = []
    Self.thing.appendLine(thing, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  private func row(_ thing: Thing) -> String {
    var bytes: [UInt8] = []
    appendRow(Self.thing.csvRow(thing), to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func line() {
    #expect(
      json(Thing())
        == #"{"type":"thing","name":"x","count":3,"share":0.13,"part":{"note":"a","level":null}}"#
        + "\n")
    #expect(
      json(Thing(name: "\"\\\n\u{1}é", share: .infinity, part: nil, more: 2))
        == #"{"type":"thing","name":"\"\\\u000a\u0001é","count":3,"share":null,"part":null,"more":2,"twice":4}"#
        + "\n")
  }

  @Test func commaSeparatedValues() {
    #expect(Self.thing.csvHeader == ["name", "count", "share", "note", "level"])
    #expect(row(Thing(part: Part(note: "b", level: 0.26))) == "x,3,0.13,b,0.3\n")
    #expect(row(Thing(name: "a,\"b\"", share: nil, part: nil)) == "\"a,\"\"b\"\"\",3,,,\n")
    #expect(row(Thing(name: "é日")) == "é日,3,0.13,a,\n")
  }

  /// Control characters reach neither a terminal nor a reader of lines.
  @Test func controlCharacters() {
    let name = "\u{1B}[31m\u{7F}\u{9B}1\u{A9}\r\n\u{85}\u{A0}Â"
    #expect(
      json(Thing(name: name)).hasPrefix(
        #"{"type":"thing","name":"\u001b[31m\u007f\u009b1"# + "\u{A9}"
          + #"\u000d\u000a\u0085"# + "\u{A0}Â\","))
    #expect(row(Thing(name: name)) == "?[31m??1\u{A9}???\u{A0}Â,3,0.13,a,\n")
    #expect(row(Thing(name: "a,\nb")) == "\"a,?b\",3,0.13,a,\n")
  }

  @Test func table() {
    let table = Table(Self.thing.columns)
    #expect(
      table.lines([Thing(), Thing(name: "longer", count: 12, share: nil)])
        == ["NAME    SHARE   N", "x       0.1 %   3", "longer      –  12"])
    #expect(table.header == "NAME    SHARE  N")
    #expect(table.line(Thing()) == "x       0.1 %  3")
  }

  @Test func schema() {
    let schema = Self.thing.schema
    #expect(schema.node == ["$ref": "#/$defs/thing"])
    #expect(Set(schema.definitions.map(\.name)) == ["count", "thing"])
    let node = schema.definitions.last?.node
    #expect(node?["required"] == ["type", "name", "count", "share", "part"])
    #expect(node?["dependentRequired"] == ["more": ["twice"], "twice": ["more"]])
    #expect(node?["properties"]?["type"] == ["const": "thing"])
    #expect(
      node?["properties"]?["share"] == ["type": ["number", "null"], "minimum": 0, "maximum": 1])
    #expect(node?["properties"]?["part"]?["type"] == ["object", "null"])
    let others = Self.thing.omitting(keys: ["more", "twice"])
    #expect(others.schema.definitions.last?.node["dependentRequired"] == nil)
  }

  /// A long document is broken, and each definition stands in it once.
  @Test func document() throws {
    let text = Schema.document(
      ["title": "t"], lines: [Self.thing.schema, Self.thing.schema], others: [])
    let lines = text.split(separator: "\n")
    #expect(lines.filter { $0.contains(#""thing": {"#) }.count == 1)
    #expect(lines.allSatisfy { $0.count <= 100 })
    #expect(lines.first == "{" && lines.last == "}")
  }

  @Test func wallClockTime() {
    var bytes: [UInt8] = []
    WallClockTime(nanoseconds: 1_000).fieldValue.append(to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == #""1970-01-01T00:00:00.000001Z""#)
  }
}
