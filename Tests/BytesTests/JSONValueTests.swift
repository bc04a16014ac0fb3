import Testing

@testable import Bytes

@Suite struct JSONValueTests {
  private func read(_ text: String) throws -> JSONValue {
    let bytes = Array(text.utf8)
    // The array outlives the call.
    return unsafe try JSONValue(parsing: bytes.span.bytes)
  }

  @Test(
    arguments: [
      ("true", .boolean(true)), ("false", .boolean(false)), ("null", .null), ("nan", .null),
      ("-nan", .null), ("0", .number(0)), ("-1.5e2", .number(-150)), ("1e999", .null),
      (#""a\u00E9\n""#, .string("aé\n")), (#""\"\\\/\t""#, .string("\"\\/\t")),
      (#""""#, .string("")),
      (#""\ud83d\ude00é""#, .string("😀é")), (#""\ud83dx""#, .string("\u{FFFD}x")),
      ("[]", .array([])), ("{}", .object([:])),
      (
        #" {"a": [1, true, {"b": false}], "a2": "x"} "#,
        .object([
          "a": .array([.number(1), .boolean(true), .object(["b": .boolean(false)])]),
          "a2": .string("x"),
        ])
      ),
    ] as [(String, JSONValue)])
  func values(text: String, value: JSONValue) throws {
    #expect(try read(text) == value)
  }

  @Test(arguments: [
    ("", 0), ("True", 0), ("[1", 2), ("{a: 1}", 1), (#"{"a" 1}"#, 5), ("1 2", 2), (#""a"#, 2),
    (String(repeating: "[", count: 17), 16),
  ])
  func errorsHaveTheirPlace(text: String, place: Int) throws {
    let error = #expect(throws: ParseError.self) { try read(text) }
    #expect(error?.offset == place)
  }
}
