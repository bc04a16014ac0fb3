import FleetSites
import Fusion
import Testing

/// The outlines that a site file may have.
@Suite struct OutlineTests {
  static func site(_ outline: String) throws(SiteFileError) -> Site {
    try Site(
      parsing: Array(
        """
        name = "flat"
        [[rooms]]
        name = "kitchen"
        outline = \(outline)
        [[receivers]]
        name = "one"
        room = "kitchen"
        """.utf8))
  }

  @Test func acceptsAnOutline() throws {
    let site = try Self.site("[[0, 0], [4, 0], [4, 3], [2, 1], [0, 3]]")
    #expect(site.rooms[0].outline.count == 5)
  }

  @Test(arguments: [
    "[[0, 0], [4, 4], [4, 0], [0, 4]]", "[[0, 0], [4, 0], [2, 0]]", "[[1, 1], [1, 1], [1, 1]]",
  ])
  func refusesAnOutlineWithoutAnArea(_ outline: String) {
    let error = #expect(throws: SiteFileError.self) { try Self.site(outline) }
    #expect(error?.line == 4)
    #expect(error?.message.contains("edges that do not cross") == true)
  }
}
