import Foundation
import Positioning
import Testing

/// Against GeographicLib: Scripts/geodesics.py makes the file.
@Suite struct GeodesicTests {
  struct Pair: Sendable, CustomStringConvertible {
    var start: Coordinate
    var end: Coordinate
    var meters: Double
    var startAzimuth: Double
    var description: String { "\(start) \(end)" }
  }

  static let pairs: [Pair] = {
    let name = ProcessInfo.processInfo.environment["BEACONSCAN_GEODESICS"]
    let file =
      name.map { URL(filePath: $0) }
      ?? URL(filePath: #filePath).deletingLastPathComponent().appending(path: "geodesics.csv")
    guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [] }
    return text.split(separator: "\n").dropFirst().compactMap { line in
      let values = line.split(separator: ",").compactMap { Double($0) }
      guard values.count == 7, let start = Coordinate(latitude: values[0], longitude: values[1]),
        let end = Coordinate(latitude: values[2], longitude: values[3])
      else { return nil }
      return Pair(start: start, end: end, meters: values[4], startAzimuth: values[5])
    }
  }()

  /// Returns the largest value, and the pair that has it.
  func largest(_ value: (Pair) -> Double) -> (value: Double, pair: String) {
    Self.pairs.map { (value($0), $0.description) }.max { $0.0 < $1.0 || $1.0.isNaN } ?? (.nan, "")
  }

  @Test func distancesAreThoseOfGeographicLib() {
    #expect(Self.pairs.count >= 510)
    let error = largest { abs($0.start.distance(to: $0.end) - $0.meters) }
    #expect(error.value < 1e-7, "\(error)")
    let back = largest { abs($0.end.distance(to: $0.start) - $0.meters) }
    #expect(back.value < 1e-7, "\(back)")
  }

  @Test func aLineOfTheAzimuthAndLengthEndsAtThePlace() {
    let given = largest { $0.start.moved($0.meters, toward: $0.startAzimuth).distance(to: $0.end) }
    #expect(given.value < 1e-7, "\(given)")
    let ours = largest {
      let line = Geodesic.inverse(from: $0.start, to: $0.end)
      return $0.start.moved(line.meters, toward: line.startAzimuth).distance(to: $0.end)
    }
    #expect(ours.value < 1e-7, "\(ours)")
  }

  @Test func aLineLeadsBack() {
    let error = largest {
      let line = Geodesic.inverse(from: $0.start, to: $0.end)
      return $0.end.moved(-line.meters, toward: line.endAzimuth).distance(to: $0.start)
    }
    #expect(error.value < 1e-7, "\(error)")
    let twice = largest {
      let line = Geodesic.direct(
        from: $0.start, toward: $0.startAzimuth, meters: $0.meters)
      return line.end.moved(-line.meters, toward: line.endAzimuth).distance(to: $0.start)
    }
    #expect(twice.value < 1e-7, "\(twice)")
  }

  @Test func azimuthsAreOfOneTurn() {
    for pair in Self.pairs {
      let line = Geodesic.inverse(from: pair.start, to: pair.end)
      #expect((0..<360).contains(line.startAzimuth) && (0..<360).contains(line.endAzimuth))
    }
  }

  @Test(
    arguments: [
      (0.0, 0.0, 0.0, 1.0, 90.0, 90.0), (0, 1, 0, 0, 270, 270), (0, 0, 1, 0, 0, 0),
      (1, 0, 0, 0, 180, 180), (0, 179.5, 0, -179.5, 90, 90), (10, 20, 90, 0, 0, 340),
      (-90, 30, 10, 30, 0, 0), (5, 6, 5, 6, 0, 0), (90, 0, 90, 120, 0, 0),
    ] as [(Double, Double, Double, Double, Double, Double)])
  func azimuthsAreExactWhereTheyAreKnown(
    latitude1: Double, longitude1: Double, latitude2: Double, longitude2: Double, start: Double,
    end: Double
  ) throws {
    let line = Geodesic.inverse(
      from: try #require(Coordinate(latitude: latitude1, longitude: longitude1)),
      to: try #require(Coordinate(latitude: latitude2, longitude: longitude2)))
    #expect(line.startAzimuth == start)
    #expect(abs(line.endAzimuth - end) < 1e-13)
  }

  @Test func aMoveThatIsNotFiniteIsNone() throws {
    let place = try #require(Coordinate(latitude: 48, longitude: 2))
    #expect(place.moved(.nan, toward: 0) == place)
    #expect(place.moved(1, toward: .infinity) == place)
    #expect(place.moved(1e300, toward: 1e300).distance(to: place) < 20_004_000)
  }
}
