import Foundation
import Positioning
import Testing

/// Against GeographicLib: Benchmarks/Studies/geodesics.py makes the file.
@Suite struct GeodesicTests {
  struct Pair: Sendable, CustomStringConvertible {
    var start: Coordinate
    var end: Coordinate
    var meters: Double
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
      guard values.count == 5, let start = Coordinate(latitude: values[0], longitude: values[1]),
        let end = Coordinate(latitude: values[2], longitude: values[3])
      else { return nil }
      return Pair(start: start, end: end, meters: values[4])
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
}
