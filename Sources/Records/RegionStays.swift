package import Advertising
package import Scanning

/// The durations of visitors' stays in a region.
package struct RegionStays: Sendable {
  package var region: String
  /// The durations of the stays, in seconds.
  private var lengths: [Double] = []
  /// The seconds inside during each hour of the day.
  private var hours = [Double](repeating: 0, count: 24)

  package init(region: String) { self.region = region }

  /// Adds a stay and its seconds in the hours of the day.
  package mutating func add(_ length: Double, hours parts: [(hour: Int, seconds: Double)]) {
    lengths.append(length)
    for part in parts where hours.indices.contains(part.hour) { hours[part.hour] += part.seconds }
  }

  private var total: Double { lengths.reduce(0, +) }

  private var median: Double {
    let sorted = lengths.sorted()
    guard !sorted.isEmpty else { return 0 }
    return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
  }

  private var mean: Double { lengths.isEmpty ? 0 : total / Double(lengths.count) }
}

extension RegionStays {
  package static let record = RecordType<RegionStays>(
    "stays",
    [
      Field("region", .text, column: Column(priority: .key, fit: .cut(to: 8))) { $0.region },
      Field("stays", .count, column: Column(nil, .right, priority: .key)) { $0.lengths.count },
      length("median", \.median), length("mean", \.mean),
      length("longest") { $0.lengths.max() ?? 0 }, length("total", \.total),
      Field(
        "hours",
        Schema.list(of: .number(0...)).with("minItems", 24).with("maxItems", 24),
        column: Column("BY HOUR 0–23", priority: .detail) { blocks($0.hours) }
      ) { stays in
        FieldValue.list(
          stays.hours, text: stays.hours.map { decimal($0, 3) }.joined(separator: " ")
        ) { $1 += decimal($0, 3).utf8 }
      },
    ])

  private static func length(
    _ key: String, _ value: @escaping @Sendable (RegionStays) -> Double
  ) -> Field<RegionStays> {
    Field(
      key, .number(0...), decimals: 3,
      column: Column(nil, .right, priority: .main) { timeSpan(value($0)) }
    ) { value($0) }
  }
}

/// The duration and strength of a beacon's reception in one hour.
package struct HourlyPresence: Sendable {
  package var time: WallClockTime
  package var beacon: BeaconIdentity
  package var seconds: Double
  package var sightings: Int
  package var meanRSSI: Double?
  package var bestRSSI: Int?

  package init(
    time: WallClockTime, beacon: BeaconIdentity, seconds: Double, sightings: Int,
    meanRSSI: Double?, bestRSSI: Int?
  ) {
    (self.time, self.beacon, self.seconds) = (time, beacon, seconds)
    (self.sightings, self.meanRSSI, self.bestRSSI) = (sightings, meanRSSI, bestRSSI)
  }

  package static let record = RecordType<HourlyPresence>(
    "presence",
    [
      Field("time", .time, column: Column("HOUR", priority: .key, digits: 0, time: \.time)) {
        $0.time
      }
    ],
    Field.identity { $0.beacon },
    [
      Field(
        "seconds", .number(0...3600), decimals: 3,
        column: Column("PRESENT", .right, priority: .main) { timeSpan($0.seconds) }
      ) { $0.seconds },
      Field("sightings", .count, column: Column(nil, .right)) { $0.sightings },
      Field(
        "rssi", .number(-128...20).orNull, decimals: 1,
        column: Column("MEAN RSSI", .right) { $0.meanRSSI.map { fixed($0, 1) } }
      ) { $0.meanRSSI },
      Field("bestRSSI", .rssi, column: Column("BEST", .right)) { $0.bestRSSI },
    ])
}

/// Returns a duration in its two largest units: `42.5 s`, `12 min 05 s`, `3 h 07 min`, `4 d 02 h`.
package func timeSpan(_ seconds: Double) -> String {
  guard seconds >= 59.95 else { return fixed(seconds, 1) + " s" }
  guard seconds < 1e9 else { return "30 years or more" }
  let whole = Int(seconds.rounded())
  let (large, small, units) =
    switch whole {
    case ..<3600: (whole / 60, whole % 60, ("min", "s"))
    case ..<86400: (whole / 3600, whole % 3600 / 60, ("h", "min"))
    default: (whole / 86400, whole % 86400 / 3600, ("d", "h"))
    }
  return "\(large) \(units.0) \(small < 10 ? "0" : "")\(small) \(units.1)"
}

/// Returns a bar chart of one line, scaled to the largest value or to `full`.
package func blocks(_ values: [Double], full: Double? = nil, empty: Character = "·") -> String {
  // `▂` is missing because its ASCII form is that of `·`.
  let characters: [Character] = ["▁", "▃", "▄", "▅", "▆", "▇", "█"]
  let largest = full ?? values.max() ?? 0
  return String(
    values.map { value in
      guard value > 0, largest > 0 else { return empty }
      // Only a full value gets the full block.
      let step = Int((value / largest * Double(characters.count - 1)).rounded(.down))
      return characters[min(max(step, 0), characters.count - 1)]
    })
}
