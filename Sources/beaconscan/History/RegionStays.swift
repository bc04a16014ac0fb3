import Records

struct RegionStays: Sendable {
  let region: String
  private var lengths: [Double] = []
  private var hours = [Double](repeating: 0, count: 24)

  init(region: String) { self.region = region }

  mutating func add(_ length: Double, hours parts: [(hour: Int, seconds: Double)]) {
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
  static let record = RecordType<RegionStays>(
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
