import Bytes
import Testing

/// What an error of a parser says.
@Suite struct ParseErrorTests {
  @Test func sentences() {
    let truncated = ParseError(.truncated(needed: 5, available: 1), at: 31)
    #expect("\(truncated)" == "byte 31: need 5 more, have 1")
    #expect("\(truncated.reason)" == "need 5 more, have 1")
    let invalid = ParseError(.invalid("the version is not 1"), at: 8)
    #expect("\(invalid)" == "byte 8: the version is not 1")
    #expect("\(invalid.reason)" == "the version is not 1")
  }

  @Test func reasonsAreEqualByTheirWords() {
    let reason: StaticReason = "a"
    let same: StaticReason = "a"
    let other: StaticReason = "b"
    #expect(reason == same)
    #expect(reason != other)
    #expect(Set([reason, same, other]).count == 2)
    #expect(ParseError(.invalid(reason), at: 1) == ParseError(.invalid(same), at: 1))
    #expect(ParseError(.invalid(reason), at: 1) != ParseError(.invalid(same), at: 2))
    #expect(ParseError(.invalid(reason), at: 1) != ParseError(.invalid(other), at: 1))
    #expect(
      ParseError(.truncated(needed: 1, available: 0), at: 1)
        != ParseError(.truncated(needed: 2, available: 0), at: 1))
  }

  /// An error on the way out of a hot loop costs no allocation: it is plain bytes.
  @Test func isSmall() {
    #expect(MemoryLayout<ParseError>.size <= 32)
  }
}
