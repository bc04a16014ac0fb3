import Advertising
import Ranging
import Records
import Scanning

struct CalibrationResult {
  struct Place {
    var position: CalibrationPlace.Position
    var level: PlaceSurvey.Level
    var packets: Int
  }

  enum Finding {
    case distances(CalibrationFit)
    case boundary(BoundaryFit)
  }

  let beacon: BeaconIdentity
  /// `nil` if there is only one adapter.
  let adapter: UInt16?
  let statedPower: Int8
  let places: [Place]
  let finding: Finding

  static func all(
    _ survey: CalibrationSurvey, _ positions: [CalibrationPlace.Position]
  ) throws(CommandError) -> [CalibrationResult] {
    guard let beacon = survey.beacon else { return [] }
    if positions.contains(.edge), survey.adapters.count > 1 {
      throw .init(
        .badData, "a boundary is measured with one adapter; name it with --adapter")
    }
    var results: [CalibrationResult] = []
    for adapter in survey.adapters {
      let number = survey.adapters.count > 1 ? adapter.link.adapter : nil
      let places = zip(positions, adapter.levels).map {
        Place(position: $0, level: $1.level, packets: $1.packets)
      }
      do throws(CalibrationProblem) {
        results.append(
          CalibrationResult(
            beacon: beacon, adapter: number, statedPower: adapter.link.statedPower, places: places,
            finding: try finding(places, Double(adapter.link.statedPower))))
      } catch {
        throw .init(.badData, number.map { "hci\($0): \(error)" } ?? "\(error)")
      }
    }
    return results
  }

  private static func finding(
    _ places: [Place], _ statedPower: Double
  ) throws(CalibrationProblem) -> Finding {
    func level(_ position: CalibrationPlace.Position) -> PlaceSurvey.Level? {
      places.first { $0.position == position }?.level
    }
    if let edge = level(.edge), let inside = level(.inside), let outside = level(.outside) {
      return .boundary(try BoundaryFit(edge: edge, inside: inside, outside: outside))
    }
    let distances = places.compactMap { place -> CalibrationFit.Place? in
      guard case .distance(let distance) = place.position else { return nil }
      return (distance, place.level)
    }
    return .distances(try CalibrationFit(distances, statedPower: statedPower))
  }

  /// The adapter's offset in dB if the stated power is right, or `nil` if it is not plausible.
  var adapterOffset: CalibrationFit.Estimate? {
    guard case .distances(let fit) = finding, MeasuredPower.isPlausible(Double(statedPower)) else {
      return nil
    }
    return .init(value: fit.power.value - Double(statedPower), error: fit.power.error)
  }

  /// The options that apply the result to this beacon or, with several adapters, to all beacons,
  /// since an offset belongs to an adapter.
  var options: [String] {
    switch finding {
    case .boundary(let fit): return ["--boundary=\(decimal(fit.level.value, 1))"]
    case .distances(let fit):
      if adapter != nil { return generalOptions }
      let exponent = fit.exponent.map { ",exponent=\(decimal($0.value, 2))" } ?? ""
      return ["--calibrate=\(beacon)@power=\(decimal(fit.power.value, 1))\(exponent)"]
    }
  }

  /// The options that apply the result to all beacons, if their stated powers are right.
  var generalOptions: [String] {
    guard case .distances(let fit) = finding else { return [] }
    let name = adapter.map { "hci\($0)=" } ?? ""
    let offset = adapterOffset.map { ["--adapter-offset=\(name)\(decimal($0.value, 1))"] } ?? []
    return offset + (fit.exponent.map { ["--environment=\(decimal($0.value, 2))"] } ?? [])
  }

  var lines: [String] {
    func estimate(_ estimate: CalibrationFit.Estimate, _ decimals: Int, _ unit: String) -> String {
      "\(fixed(estimate.value, decimals)) ± \(fixed(estimate.error, decimals))\(unit)"
    }
    let name = BeaconNames.name(of: beacon).map { "  \($0)" } ?? ""
    var lines = ["\(beacon)" + name + (adapter.map { "  hci\($0)" } ?? "")]
    for place in places {
      let level = CalibrationFit.Estimate(value: place.level.mean, error: 1.96 * place.level.error)
      lines.append(
        "  at \(place.position.name)  \(estimate(level, 1, " dBm"))  \(place.packets) packets")
    }
    switch finding {
    case .distances(let fit):
      lines.append(
        "  measured power  \(estimate(fit.power, 1, " dBm")), the beacon states \(statedPower) dBm")
      lines.append(
        fit.exponent.map { "  exponent        \(estimate($0, 2, ""))" }
          ?? "  exponent        needs a place twice as far away as another")
      if let adapterOffset {
        lines.append(
          "  adapter offset  \(estimate(adapterOffset, 1, " dB")), if the stated power is right")
      }
      lines.append("Each ± is half of a 95 % interval.")
      if adapter == nil { lines.append("For this beacon:  \(options.joined(separator: " "))") }
      if !generalOptions.isEmpty {
        lines.append("For all beacons:  \(generalOptions.joined(separator: " "))")
      }
    case .boundary(let fit):
      lines.append(
        "  boundary  \(estimate(fit.level, 1, " dBm")); inside is \(fixed(fit.inside, 1)) dB stronger, "
          + "outside \(fixed(fit.outside, 1)) dB weaker")
      lines.append("For monitor:  \(options.joined(separator: " "))")
    }
    return lines
  }
}

extension CalibrationResult {
  static let record = RecordType<CalibrationResult>(
    "calibration", Field.identity { $0.beacon },
    [
      Field("adapter", .adapter, .sometimes) {
        $0.adapter.map { FieldValue.text("hci\($0)") } ?? .absent
      },
      Field("statedPower", .power) { $0.statedPower },
      Field("places", each: Place.record) { $0.places },
      Field("measuredPower", .number(-100...0).orNull, decimals: 2) { $0.fit?.power.value },
      Field("measuredPowerError", .number(0...).orNull, decimals: 2) { $0.fit?.power.error },
      Field("exponent", .number(-100...100).orNull, decimals: 3) { $0.fit?.exponent?.value },
      Field("exponentError", .number(0...).orNull, decimals: 3) { $0.fit?.exponent?.error },
      Field("adapterOffset", .number(-200...200).orNull, decimals: 2) { $0.adapterOffset?.value },
      Field("boundary", .number(-128...20).orNull, decimals: 2) { $0.boundary?.level.value },
      Field("boundaryError", .number(0...).orNull, decimals: 2) { $0.boundary?.level.error },
      Field("options", .text) { $0.options.joined(separator: " ") },
    ])

  private var fit: CalibrationFit? {
    if case .distances(let fit) = finding { fit } else { nil }
  }

  private var boundary: BoundaryFit? {
    if case .boundary(let fit) = finding { fit } else { nil }
  }
}

extension CalibrationResult.Place {
  fileprivate static let record = RecordType<CalibrationResult.Place>(
    nil,
    [
      Field("place", .text) { $0.position.name },
      Field("rssi", .number(-128...20), decimals: 2) { $0.level.mean },
      Field("rssiError", .number(0...), decimals: 2) { 1.96 * $0.level.error },
      Field("packets", .count) { $0.packets },
    ])
}
