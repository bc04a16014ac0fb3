import Advertising
import FleetSites
import Fusion
import Testing

/// What a site file has for people: plans and beacons.
@Suite struct SiteFileTests {
  private static let rooms = """
    name = "flat"
    [[rooms]]
    name = "kitchen"
    outline = [[0, 0], [4, 0], [4, 3]]
    [[rooms]]
    name = "hall"
    floor = 1
    [[receivers]]
    name = "one"
    room = "kitchen"

    """
  private static let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"

  private static func read(_ text: String) throws(SiteFileError) -> SiteFile {
    try SiteFile(parsing: Array((rooms + text).utf8))
  }

  @Test func readsHowLongBeaconsLie() throws {
    #expect(try Self.read("").site.lying == 120)
    #expect(try SiteFile(parsing: Array(("lying = 2\n" + Self.rooms).utf8)).site.lying == 2)
    let error = try #require(throws: SiteFileError.self) {
      try SiteFile(parsing: Array(("lying = 0\n" + Self.rooms).utf8))
    }
    #expect("\(error)".contains("lying: expected a number from 1.0 to 86400.0"))
  }

  @Test func readsAPlan() throws {
    let file = try Self.read(
      "[plan]\nimage = \"ground.svg\"\nmetersPerPixel = 0.05\nx = -1.5\ny = 2")
    #expect(file.plans.count == 1)
    #expect(file.plans.first?.image == "ground.svg")
    #expect(file.plans.first?.metersPerPixel == 0.05)
    #expect(file.plans.first?.corner == Site.Point(-1.5, 2))
    #expect(file.site.rooms.count == 2)
  }

  @Test func readsAPlanOfEachFloor() throws {
    let file = try Self.read(
      """
      [[plan]]
      image = "a.png"
      metersPerPixel = 0.1
      [[plan]]
      image = "b.JPG"
      metersPerPixel = 0.2
      floor = 1
      """)
    #expect(file.plans.map(\.floor) == [0, 1])
  }

  @Test func readsBeacons() throws {
    let file = try Self.read(
      """
      [[beacons]]
      beacon = "\(Self.uuid):1:2"
      name = "Crate"
      rooms = ["hall"]
      [[beacons]]
      beacon = "\(Self.uuid):1:3"
      """)
    let uuid = try #require(ProximityUUID(Self.uuid))
    let crate = file.beacons[BeaconIdentity(uuid: uuid, major: 1, minor: 2)]
    #expect(crate?.name == "Crate")
    #expect(crate?.rooms == ["hall"])
    let other = file.beacons[BeaconIdentity(uuid: uuid, major: 1, minor: 3)]
    #expect(other != nil)
    #expect(other?.rooms == nil)
  }

  @Test(arguments: [
    ("[plan]\nimage = \"a.png\"", "metersPerPixel"),
    ("[plan]\nimage = \"../a.png\"\nmetersPerPixel = 1", "folder"),
    ("[plan]\nimage = \".a.png\"\nmetersPerPixel = 1", "folder"),
    ("[plan]\nimage = \"a.html\"\nmetersPerPixel = 1", ".svg"),
    ("[plan]\nimage = \"a.png\"\nmetersPerPixel = 0", "0.0001"),
    ("[plan]\nimage = \"a.png\"\nmetersPerPixel = 1\nwidth = 3", "width"),
    (
      "[[plan]]\nimage = \"a.png\"\nmetersPerPixel = 1\n[[plan]]\nimage = \"b.png\"\n"
        + "metersPerPixel = 1", "floor 0"
    ),
    ("[[beacons]]\nname = \"Crate\"", "UUID:MAJOR:MINOR"),
    ("[[beacons]]\nbeacon = \"\(uuid):1\"", "UUID:MAJOR:MINOR"),
    ("[[beacons]]\nbeacon = \"\(uuid):1:2\"\nrooms = [\"cellar\"]", "kitchen, hall"),
    ("[[beacons]]\nbeacon = \"\(uuid):1:2\"\nrooms = []", "names"),
    (
      "[[beacons]]\nbeacon = \"\(uuid):1:2\"\n[[beacons]]\nbeacon = \"\(uuid.lowercased()):1:2\"",
      "two entries"
    ),
  ])
  func refuses(_ text: String, _ words: String) {
    let error = #expect(throws: SiteFileError.self) { try Self.read(text) }
    #expect(error?.message.contains(words) == true, "\(error?.description ?? "")")
    #expect(error?.line ?? 0 > 10)
  }
}
