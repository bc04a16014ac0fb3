import CoreLocation
import Testing

@testable import StrangersSwift5

private let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
private let other = UUID(uuid: (9, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
private let here = CLLocationCoordinate2D(latitude: 52.5, longitude: 13.4)

@Suite struct CLRegionTests {
  static let different: [CLRegion] = [
    CLBeaconRegion(uuid: uuid, identifier: "a"),
    CLBeaconRegion(uuid: uuid, identifier: "b"),
    CLBeaconRegion(uuid: other, identifier: "a"),
    CLBeaconRegion(uuid: uuid, major: 0, identifier: "a"),
    CLBeaconRegion(uuid: uuid, major: 1, identifier: "a"),
    CLBeaconRegion(uuid: uuid, major: 1, minor: 0, identifier: "a"),
    CLBeaconRegion(uuid: uuid, major: 1, minor: 2, identifier: "a"),
    CLCircularRegion(center: here, radius: 10, identifier: "a"),
    CLCircularRegion(center: here, radius: 11, identifier: "a"),
    CLCircularRegion(center: CLLocationCoordinate2D(), radius: 10, identifier: "a"),
    CLRegion(),
  ]

  @Test(arguments: different.indices) func `a region equals its copy and nothing else`(index: Int) {
    let region = Self.different[index]
    region.notifyOnExit = false
    let copy = copied(region)
    #expect(copy !== region)
    #expect(sameRegion(copy, region) && copy.hash == region.hash)
    #expect(!copy.notifyOnExit && copy.notifyOnEntry)
    copy.notifyOnExit = true
    #expect(copy == region)
    for (place, another) in Self.different.enumerated() {
      #expect((region == another) == (place == index))
    }
    #expect(Set(Self.different).contains(copy))
    #expect([region: 1][copy] == 1)
  }

  @Test func `a region survives an archive`() throws {
    let region = CLBeaconRegion(uuid: uuid, major: 0, minor: 65535, identifier: "né")
    region.notifyOnEntry = false
    region.notifyEntryStateOnDisplay = true
    let read = try #require(try archived(region))
    #expect(read == region)
    #expect(!read.notifyOnEntry && read.notifyOnExit && read.notifyEntryStateOnDisplay)
    let wide = try #require(try archived(CLBeaconRegion(uuid: uuid, identifier: "w")))
    #expect(wide.major == nil && wide.minor == nil)
    let circle = CLCircularRegion(center: here, radius: 12.5, identifier: "c")
    #expect(try archived(circle) == circle)
    let constraint = CLBeaconIdentityConstraint(uuid: uuid, major: 7)
    #expect(try archived(constraint) == constraint)
  }

  @Test(
    arguments: [
      (-59, 0xC5), (nil, 0xC5), (-128, 0x80), (127, 0x7F), (-1000, 0x80), (1000, 0x7F), (0, 0),
    ] as [(Int?, UInt8)])
  func `a region advertises as the frame says`(power: Int?, byte: UInt8) throws {
    let advertiser = Advertiser(uuid: uuid, major: 0x0102, minor: 0xFEFF)
    let advertisement = try #require(advertiser.advertisement(power: power))
    let data = try #require(advertisement["kCBAdvDataAppleBeaconKey"] as? Data)
    #expect(advertisement.count == 1)
    #expect(Array(data) == Array(1...16) + [0x01, 0x02, 0xFE, 0xFF, byte])
    #expect(advertiser.payload()?.count == 21)
    let wide = CLBeaconRegion(uuid: uuid, identifier: "w").peripheralData(withMeasuredPower: -59)
    let bytes = try #require(wide["kCBAdvDataAppleBeaconKey"] as? Data)
    #expect(Array(bytes.dropFirst(16)) == [0, 0, 0, 0, 0xC5])
  }

  @Test func `a constraint means what its region means`() {
    for case let region as CLBeaconRegion in Self.different {
      let constraint = region.beaconIdentityConstraint
      #expect(constraint.uuid == region.uuid)
      #expect(constraint.major == region.major?.uint16Value)
      #expect(constraint.minor == region.minor?.uint16Value)
      let back = CLBeaconRegion(
        beaconIdentityConstraint: constraint, identifier: region.identifier)
      #expect(back == region)
    }
  }

  @Test func `constraints are equal by value`() {
    let constraints = [
      CLBeaconIdentityConstraint(uuid: uuid), .init(uuid: other), .init(uuid: uuid, major: 0),
      .init(uuid: uuid, major: 1), .init(uuid: uuid, major: 1, minor: 0),
      .init(uuid: uuid, major: 1, minor: 1),
    ]
    #expect(Set(constraints).count == constraints.count)
    #expect(Set(constraints).contains(CLBeaconIdentityConstraint(uuid: uuid, major: 1)))
    #expect(
      sameBeacons(
        CLBeaconIdentityConstraint(uuid: uuid, major: 1, minor: 0),
        CLBeaconIdentityConstraint(uuid: uuid, major: 1, minor: 0)))
    #expect(constraints[0] != constraints[2])
  }

  @Test func `a stranger's book of regions finds them again`() {
    var book = RegionBook()
    book.add(CLBeaconRegion(uuid: uuid, major: 1, identifier: "a"))
    #expect(book.isWatched(CLBeaconRegion(uuid: uuid, major: 1, identifier: "a")))
    #expect(book.isWatched(CLBeaconRegion(uuid: other, identifier: "a")))
    #expect(!book.isWatched(CLBeaconRegion(uuid: uuid, major: 1, identifier: "b")))
    #expect(book.ranged == [CLBeaconIdentityConstraint(uuid: uuid, major: 1)])
  }

  @Test(arguments: [
    (0.0, true), (99.9, true), (100.1, false),
  ])
  func `a circle contains what is within its radius`(metres: Double, inside: Bool) {
    let circle = CLCircularRegion(center: here, radius: 100, identifier: "c")
    // One degree of latitude is 111 268 m long there (WGS 84).
    let point = CLLocationCoordinate2D(
      latitude: here.latitude + metres / 111_268, longitude: here.longitude)
    #expect(circle.contains(point) == inside)
  }

  @Test func `a circle contains no place that is none`() {
    let circle = CLCircularRegion(center: here, radius: 1e9, identifier: "c")
    #expect(!circle.contains(kCLLocationCoordinate2DInvalid))
    #expect(!circle.contains(CLLocationCoordinate2D(latitude: .nan, longitude: 0)))
    #expect(circle.contains(CLLocationCoordinate2D(latitude: -52.5, longitude: -166.6)))
  }

  @Test func `a subclass may use any short key in an archive`() throws {
    let region = NotedRegion(uuid: UUID(), major: 3, identifier: "lobby")
    region.note = "by the door"
    let read = try #require(try archived(region))
    #expect(read.note == "by the door")
    #expect(read.identifier == "lobby" && read.uuid == region.uuid && read.major == 3)
  }
}
