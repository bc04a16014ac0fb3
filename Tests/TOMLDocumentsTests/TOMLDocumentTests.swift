import TOMLDocuments
import Testing

/// The reader of TOML 1.0, by the examples of its specification.
@Suite struct TOMLDocumentTests {
  private static func read(_ text: String) -> TOMLDocument { TOMLDocument(Array(text.utf8)) }

  /// A value as short text, to compare with.
  private static func text(_ value: TOMLItem.Value) -> String {
    switch value {
    case .string(let text): "'\(text)'"
    case .integer(let number): "\(number)"
    case .float(let number): "\(number)f"
    case .boolean(let isTrue): "\(isTrue)"
    case .time(let text): "@\(text)"
    case .array(let items): "[" + items.map { self.text($0.value) }.joined(separator: " ") + "]"
    case .table(let table): self.text(table)
    case .tables(let tables): "[" + tables.map { self.text($0) }.joined(separator: " ") + "]"
    }
  }

  private static func text(_ table: TOMLTable) -> String {
    "{" + table.entries.map { "\($0.key)=\(text($0.item.value))" }.joined(separator: " ") + "}"
  }

  @Test(arguments: [
    ("", "{}"), ("\u{FEFF}a = 1", "{a=1}"), ("# only a comment", "{}"),
    ("a=1\r\nb=2", "{a=1 b=2}"),
    (
      "i = [+99, 0, -17, 1_000, 0xDEAD_beef, 0o755, 0b1101]",
      "{i=[99 0 -17 1000 3735928559 493 13]}"
    ),
    (
      "f = [1.0, -0.01, 5e+22, 1e06, 6.626e-34, 9_224_617.445]",
      "{f=[1.0f -0.01f 5e+22f 1000000.0f 6.626e-34f 9224617.445f]}"
    ),
    ("f = [inf, -inf, nan]", "{f=[inff -inff nanf]}"), ("b = [true, false]", "{b=[true false]}"),
    (
      "max = 9223372036854775807\nmin = -9223372036854775808",
      "{max=9223372036854775807 min=-9223372036854775808}"
    ),
    (#"s = "a\tb \"c\" \\ é \U0001F600""#, "{s='a\tb \"c\" \\ é 😀'}"),
    (#"s = 'C:\no\escape'"#, #"{s='C:\no\escape'}"#),
    ("s = \"\"\"\na \\\n   b\nc\"\"\"", "{s='a b\nc'}"),
    ("s = \"\"\"\"a\"\"\"\"\"", "{s='\"a\"\"'}"),
    ("s = '''\nI 'said' \\n'''", "{s='I 'said' \\n'}"),
    (
      "d = [1979-05-27T07:32:00Z, 1979-05-27 00:32:00.5-07:00, 1979-05-27T07:32:00, 2024-02-29, 07:32:00.999]",
      "{d=[@1979-05-27T07:32:00Z @1979-05-27 00:32:00.5-07:00 @1979-05-27T07:32:00 @2024-02-29 @07:32:00.999]}"
    ),
    ("a = [ # c\n 1,\n\n 2, # d\n]", "{a=[1 2]}"), ("a = [[1], ['x'], []]", "{a=[[1] ['x'] []]}"),
    ("1234 = 1\n\"a.b\" = 2\n'' = 3", "{1234=1 a.b=2 =3}"),
    ("a.b.c = 1\na . b.\"d\" = 2", "{a={b={c=1 d=2}}}"),
    ("t = { x = 1, y.z = 2, y.w = 3 }\ne = {}", "{t={x=1 y={z=2 w=3}} e={}}"),
    ("[a.b]\nc = 1\n[a]\nd = 2", "{a={b={c=1} d=2}}"),
    (
      "[fruit]\napple.color = 1\napple.taste.sweet = true\n[fruit.apple.texture]\nsmooth = true",
      "{fruit={apple={color=1 taste={sweet=true} texture={smooth=true}}}}"
    ),
    (
      "[[p]]\nn = 1\n[p.q]\nr = 1\n[[p]]\n[[p.s]]\n[[p.s]]\nt = 2",
      "{p=[{n=1 q={r=1}} {s=[{} {t=2}]}]}"
    ),
  ])
  func valid(text: String, values: String) {
    let document = Self.read(text)
    #expect(document.problems.isEmpty, "\(document.problems)")
    #expect(Self.text(document.root) == values)
  }

  @Test(arguments: [
    ("a = ", 1, 5, "expected a value"), ("a", 1, 2, "expected ="), ("= 1", 1, 1, "expected a key"),
    ("a = 1 b = 2", 1, 7, "end of the line"), ("a = 1\na = 2", 2, 1, "'a' is there already"),
    ("é = 1", 1, 1, "expected a key"), ("\"é\" = x", 1, 7, "x is not a value"),
    ("a = 01", 1, 5, "not a value"), ("a = 1__0", 1, 5, "not a value"),
    ("a = .5", 1, 5, "not a value"),
    ("a = 5.", 1, 5, "not a value"), ("a = 1.e2", 1, 5, "not a value"),
    ("a = +0x1", 1, 5, "not a value"),
    ("a = 0xG", 1, 5, "not a value"), ("a = True", 1, 5, "not a value"),
    ("a = 1_", 1, 5, "not a value"),
    ("a = 9223372036854775808", 1, 5, "too large"), ("a = 2023-02-29", 1, 5, "not a value"),
    ("a = 25:00:00", 1, 5, "not a value"), ("a = 1979-05-27T07:32", 1, 5, "not a value"),
    ("a = \"x\nb = 1", 1, 5, "has no end"), ("a = 'x", 1, 5, "has no end"),
    ("a = \"\"\"x", 1, 5, "has no end"), ("a = \"\\q\"", 1, 6, "not an escape"),
    ("a = \"\\uD800\"", 1, 6, "not an escape"), ("a = \"\\u12\"", 1, 6, "not an escape"),
    ("a = \"\u{1}\"", 1, 6, "control character"), ("# \u{0}", 1, 3, "control character"),
    ("a = [1 2]", 1, 8, "a comma or ]"), ("a = [1,,2]", 1, 8, "expected a value"),
    ("a = {b = 1,}", 1, 12, "expected a key"), ("a = {b = 1\n}", 1, 11, "a comma or }"),
    ("[a", 1, 3, "expected ]"), ("[]", 1, 2, "expected a key"), ("[a]]", 1, 4, "end of the line"),
    ("[[a]", 1, 5, "expected ]]"), ("[a]\n[a]", 2, 2, "'a' is there already"),
    ("a = 1\n[a.b]", 2, 2, "'a' is there already"), ("[a.b]\n[a]\nb.c = 1", 3, 1, "'b' is there"),
    ("[a]\n[[a]]", 2, 3, "'a' is there"), ("[[a]]\n[a]", 2, 2, "'a' is there"),
    ("a = [1]\n[[a]]", 2, 3, "'a' is there"), ("a = {}\na.b = 1", 2, 1, "'a' is there"),
    ("a = {}\n[a.b]", 2, 2, "'a' is there"), ("a.b = 1\n[a]", 2, 2, "'a' is there"),
    ("a = {b = {}, b.c = 1}", 1, 14, "'b' is there"), ("a = 1\r", 1, 6, "end of the line"),
  ])
  func invalid(text: String, line: Int, column: Int, message: String) throws {
    let document = Self.read(text)
    let problem = try #require(document.problems.first)
    let position = document.position(of: problem.offset)
    #expect(problem.message.contains(message), "\(problem.message)")
    #expect(position.line == line && position.column == column, "\(position)")
    #expect(!problem.message.contains("\n") && !problem.message.hasSuffix("."))
  }

  @Test func allProblemsAreFound() {
    let document = Self.read("a = \nb = 1\n[x\nc = ?\n\n[y]\nd = 1\nd = 2\n")
    #expect(document.problems.map { document.position(of: $0.offset).line } == [1, 3, 4, 8])
    #expect(Self.text(document.root) == "{b=1 y={d=1}}")
    let many = Self.read(String(repeating: "a\n", count: 1000))
    #expect(many.problems.count == 100)
  }

  @Test func bytesThatAreNoText() {
    let document = TOMLDocument(Array("a = 1\nb = \"".utf8) + [0xC3, 0x28])
    #expect(document.problems.map(\.message) == ["this is not UTF-8; save the file as UTF-8"])
    #expect(document.problems.first.map { document.position(of: $0.offset).line } == 2)
    let long = TOMLDocument([UInt8](repeating: 0x23, count: TOMLDocument.maximumBytes + 1))
    #expect(long.problems.count == 1)
  }

  /// What is nested deep is an error, not the end of the stack.
  @Test(arguments: [
    String(repeating: "[", count: 100_000), String(repeating: "{a=", count: 100_000),
    String(repeating: "a.", count: 100_000) + "a",
  ])
  func depthIsBounded(text: String) {
    #expect(Self.read("a = \(text)").problems.count >= 1)
    #expect(Self.read("\(text) = 1").problems.count >= 1)
  }

  // MARK: Changes

  private static func set(
    _ text: String, _ path: [String], _ key: String, _ value: String
  ) throws -> String {
    let document = try read(text).setting(key, to: value, in: path)
    #expect(document.problems.isEmpty, "\(document.problems)")
    return String(decoding: document.bytes, as: UTF8.self)
  }

  @Test(
    arguments: [
      ("", ["b", "x"], "[b.x]\nk = 7\n"),
      ("# mine\na = 1 # one", ["b", "x y"], "# mine\na = 1 # one\n\n[b.\"x y\"]\nk = 7\n"),
      ("[b.x]\nk = 1 # old\nz = 2\n", ["b", "x"], "[b.x]\nk = 7 # old\nz = 2\n"),
      (
        "[b.x]\n# first\nz = 2 # z\n\n# next\n[c]\n", ["b", "x"],
        "[b.x]\n# first\nz = 2 # z\nk = 7\n\n# next\n[c]\n"
      ),
      ("[b.x] # empty\n[c]\n", ["b", "x"], "[b.x] # empty\nk = 7\n[c]\n"),
      ("[b.x]", ["b", "x"], "[b.x]\nk = 7\n"),
      ("[b.x.y]\nz = 1\n", ["b", "x"], "[b.x.y]\nz = 1\n\n[b.x]\nk = 7\n"),
      ("b.x = { z = 1 }\n", ["b", "x"], "b.x = { z = 1, k = 7 }\n"),
      ("b.x = {y.z = 1}\n", ["b", "x"], "b.x = {y.z = 1, k = 7}\n"),
      ("b = { x = {} }\n", ["b", "x"], "b = { x = { k = 7 } }\n"),
      ("a = 1\n\n[c]\nd = 1\n", [], "a = 1\nk = 7\n\n[c]\nd = 1\n"),
      ("# mine\n\n# of c\n[c]\n", [], "# mine\n\nk = 7\n\n# of c\n[c]\n"),
      ("[c]\nd.k = 1\n", [], "k = 7\n\n[c]\nd.k = 1\n"), ("# only", [], "# only\nk = 7\n"),
      ("k = [\n 1, # x\n 2,\n]\n", [], "k = 7\n"),
      ("d.e.f = 1\n[c]\n", [], "d.e.f = 1\nk = 7\n[c]\n"),
    ] as [(String, [String], String)])
  func changes(text: String, path: [String], result: String) throws {
    #expect(try Self.set(text, path, "k", "7") == result)
  }

  @Test func aTableOfAnotherFormIsRefused() {
    for text in ["b = 1\n", "b = {}\n", "[[b]]\n", "b.x.z = 1\n"] {
      #expect(throws: TOMLDocument.Problem.self) {
        try Self.set(text, ["b", "x"], "k", "7")
      }
    }
  }

  @Test(arguments: ["", "a", "a \"b\" \\ c", "é\n\u{7F}\u{1}😀"])
  func quotedTextIsRead(text: String) throws {
    let document = Self.read("a = \(TOMLDocument.quoted(text))")
    guard case .string(text)? = document.root["a"]?.value else {
      Issue.record("\(document.problems)")
      return
    }
  }
}
