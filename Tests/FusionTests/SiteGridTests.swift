import Testing

@testable import Fusion

@Suite struct SiteGridTests {
  /// Outlines without an area, or around a large one, as a site file could have them.
  static let outlines: [[Site.Point]] = [
    [Site.Point(0, 0), Site.Point(9000, 9000), Site.Point(9000, 0), Site.Point(0, 9000)],
    [Site.Point(0, 0), Site.Point(9000, 9000), Site.Point(4500, 4500)],
    [Site.Point(-9000, 0), Site.Point(9000, 0), Site.Point(0, 0)],
    [Site.Point(1, 1), Site.Point(1, 1), Site.Point(1, 1)],
    [Site.Point(0, 0), Site.Point(9000, 0), Site.Point(9000, 9000), Site.Point(0, 9000)],
  ]

  @Test(arguments: outlines) func hasFewCellsForAnyOutline(_ outline: [Site.Point]) {
    let small = [Site.Point(0, 0), Site.Point(4, 0), Site.Point(4, 4), Site.Point(0, 4)]
    let rooms = (0..<20).map { Site.Room("room \($0)", outline: $0 == 0 ? small : outline) }
    let grid = SiteGrid(
      Site("site", rooms: rooms, receivers: [Site.Receiver("one", at: Site.Point(1, 1))]))
    #expect(grid.count <= SiteGrid.limit + rooms.count)
    #expect(Set(grid.rooms) == Set(rooms.indices))
  }

  @Test func findsCrossingEdges() {
    func room(_ corners: [(Double, Double)]) -> Site.Room {
      Site.Room("room", outline: corners.map { Site.Point($0.0, $0.1) })
    }
    #expect(room([(0, 0), (4, 4), (4, 0), (0, 4)]).hasCrossingEdges)
    #expect(!room([(0, 0), (4, 0), (4, 4), (2, 1), (0, 4)]).hasCrossingEdges)
    #expect(!room([(0, 0), (4, 0), (4, 4), (0, 4)]).hasCrossingEdges)
    #expect(room([(0, 0), (4, 0), (4, 4), (0, 4)]).area == 16)
  }
}
