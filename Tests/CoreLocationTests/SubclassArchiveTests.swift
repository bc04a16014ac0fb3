import CoreLocation
import Foundation
import Testing

/// Subclasses that archive their own keys and do not call `super.encode(with:)`, as Apple's framework lets them.
@Suite struct SubclassArchiveTests {
  final class OwnVisit: CLVisit, @unchecked Sendable {
    let note: String

    init(_ note: String) {
      self.note = note
      super.init()
    }

    required init?(coder: NSCoder) {
      note = coder.decodeObject(of: NSString.self, forKey: "note").map { "\($0)" } ?? ""
      super.init(coder: coder)
    }

    override func encode(with coder: NSCoder) {
      coder.encode(NSString(string: note), forKey: "note")
    }
  }

  final class OwnHeading: CLHeading, @unchecked Sendable {
    override init() { super.init() }
    required init?(coder: NSCoder) { super.init(coder: coder) }
    override func encode(with coder: NSCoder) { coder.encode(1, forKey: "own") }
  }

  private func archive(_ value: any NSCoding) throws -> NSKeyedUnarchiver {
    let writer = NSKeyedArchiver(requiringSecureCoding: true)
    value.encode(with: writer)
    return try NSKeyedUnarchiver(forReadingFrom: writer.encodedData)
  }

  @Test func theyCanBeUnarchived() throws {
    #expect(OwnVisit(coder: try archive(OwnVisit("lobby")))?.note == "lobby")
    #expect(OwnHeading(coder: try archive(OwnHeading())) != nil)
  }

  /// An archive of the class itself that has none of its keys holds nothing.
  @Test func anEmptyArchiveOfTheClassHoldsNothing() throws {
    let writer = NSKeyedArchiver(requiringSecureCoding: false)
    writer.encode(1, forKey: "other")
    let reader = try NSKeyedUnarchiver(forReadingFrom: writer.encodedData)
    #expect(CLVisit(coder: reader) == nil && CLHeading(coder: reader) == nil)
    #expect(CLBeacon(coder: reader) == nil)
  }
}
