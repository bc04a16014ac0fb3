import Foundation
import Records
import Testing

@testable import KioskService

/// The description of the interface, compared with what the service accepts.
@Suite struct OpenAPITests {
  /// A region of beacons has a UUID, and a circle has none.
  @Test func aCircleIsDescribed() throws {
    struct Document: Decodable {
      struct Components: Decodable { var schemas: [String: Region] }
      struct Region: Decodable {
        struct Form: Decodable { var required: [String]? }
        var required: [String]?
        var oneOf: [Form]?
      }
      var components: Components
    }
    let document = try JSONDecoder().decode(Document.self, from: Data(OpenAPI.document.utf8))
    let region = try #require(document.components.schemas["regionRequest"])
    #expect(region.required == nil)
    #expect(region.oneOf?.map(\.required) == [["uuid"], ["latitude", "longitude", "radius"]])
  }

  /// A program that draws a time from the description must not be refused.
  @Test func theDescribedTimesAreThoseThatAreAccepted() throws {
    let described = try Regex(OpenAPI.timePattern)
    for year in 1970...2199 {
      for month in 0...13 {
        for day in [0, 1, 27, 28, 29, 30, 31, 32] {
          func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
          let text = "\(year)-\(digits(month))-\(digits(day))T23:59:59.5Z"
          #expect((text.wholeMatch(of: described) != nil) == (WrittenTime(text) != nil), "\(text)")
        }
      }
    }
  }
}
