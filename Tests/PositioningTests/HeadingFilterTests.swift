import Scanning
import Testing

@testable import Positioning

@Suite struct HeadingFilterTests {
  func reading(_ degrees: Double, accuracy: Double? = nil) -> CompassReading {
    CompassReading(
      time: MonotonicTime(nanoseconds: 1), timestamp: WallClockTime(nanoseconds: 2),
      magneticHeading: degrees, accuracy: accuracy, field: SIMD3(1, 2, 3))
  }

  @Test func changesCountFromTheLastDelivery() {
    var filter = HeadingFilter(filter: 5)
    let delivered = [0.0, 3, 4.9, 5, 9, 10.5, 6, 5].map {
      filter.receive(reading($0), north: nil) != nil
    }
    #expect(delivered == [true, false, false, true, false, true, false, true])
  }

  @Test func northIsNoBoundary() {
    var filter = HeadingFilter(filter: 5)
    let delivered = [359.0, 1, 3, 4, 0, 358, 356].map {
      filter.receive(reading($0), north: nil) != nil
    }
    #expect(delivered == [true, false, false, true, false, true, false])
  }

  @Test func withoutAFilterEachReadingIsDelivered() {
    var filter = HeadingFilter(filter: nil)
    #expect((0..<3).allSatisfy { _ in filter.receive(reading(7), north: nil) != nil })
  }

  @Test(arguments: [
    (HeadingOrientation.portrait, 350.0), (.landscapeLeft, 80), (.portraitUpsideDown, 170),
    (.landscapeRight, 260),
  ])
  func theOrientationTurnsTheHeading(orientation: HeadingOrientation, heading: Double) {
    var filter = HeadingFilter(filter: nil)
    filter.set(orientation)
    for nothing in [HeadingOrientation.unknown, .faceUp, .faceDown] {
      filter.set(nothing)
      #expect(filter.receive(reading(350), north: nil)?.magneticHeading == heading)
    }
    filter.set(.portrait)
    #expect(filter.receive(reading(350), north: nil)?.magneticHeading == 350)
  }

  @Test(arguments: [(10.0, 4.0, 14.0), (358, 4, 2), (1, -4, 357), (356, 4, 0), (180, -180, 0)])
  func theTrueHeadingHasTheDeclination(magnetic: Double, declination: Double, heading: Double) {
    var filter = HeadingFilter()
    let delivered = filter.receive(
      reading(magnetic), north: NorthDifference(declination: declination))
    #expect(delivered?.trueHeading == heading)
    #expect(delivered?.magneticHeading == magnetic)
    #expect(delivered?.field == SIMD3(1, 2, 3))
  }

  /// At the magnetic pole of 2025 in the Arctic there is none.
  @Test(arguments: [(48.2, 16.4, true), (85.8, 139.3, false)])
  func theDeclinationIsThatOfTheField(latitude: Double, longitude: Double, isKnown: Bool) {
    let field = MagneticModel.field(
      at: SimulatedDay.coordinate(latitude, longitude), height: 0,
      time: WallClockTime(nanoseconds: 1_767_225_600_000_000_000))
    let north = NorthDifference(field)
    #expect((north != nil) == isKnown)
    #expect(north.map { $0.declination == field.declination } ?? true)
    #expect(north.map { $0.accuracy == field.declinationAccuracy } ?? true)
  }

  @Test func aTrueHeadingThatComesOrGoesIsDelivered() {
    var filter = HeadingFilter()
    let north = NorthDifference(declination: 3)
    let delivered = [nil, nil, north, north, nil].map {
      filter.receive(reading(7), north: $0).map { $0.trueHeading }
    }
    #expect(delivered == [.some(nil), nil, 10, nil, .some(nil)])
  }

  @Test(
    arguments: [
      (nil, nil, nil), (nil, 4, nil), (3, nil, 3), (3, 0, 3), (3, 4, 5),
    ] as [(Double?, Double?, Double?)])
  func accuraciesCombine(compass: Double?, north: Double?, both: Double?) {
    var filter = HeadingFilter()
    let heading = filter.receive(
      reading(7, accuracy: compass),
      north: north.map { NorthDifference(declination: 1, accuracy: $0) })
    #expect(heading?.accuracy == both)
  }
}
