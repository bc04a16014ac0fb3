import Frontends
import Ranging
import Records
import Scanning

/// The dialog of a live calibration, which names the places and decides when each is measured.
struct CalibrationGuide {
  private(set) var survey: CalibrationSurvey
  private(set) var failure: String?
  private let places: [CalibrationPlace.Position]
  private var index = 0
  /// The time of the place's first sighting, or `nil` while the beacon is being placed.
  private var began: MonotonicTime?
  private var isMeasured = false
  /// The time of the last check of the measurement, in seconds since ``began``.
  private var lastCheck = 0.0
  /// The number of Return keys that have not started a place.
  private var returns = 0

  /// The longest measurement of a place, in seconds.
  private static let longestTime = 180.0
  /// The seconds at the start that do not count, since the user still holds the beacon.
  private static let settlingTime = 1.0
  /// The seconds between two checks. A check reads all packets.
  private static let checkInterval = 0.5

  init(_ places: [CalibrationPlace.Position], regions: [NamedRegion]) {
    self.places = places
    survey = CalibrationSurvey(regions: regions)
  }

  var isOver: Bool { index == places.count || failure != nil }

  var instruction: String {
    "\(index + 1) of \(places.count): \(places[index].instruction), and press Return."
  }

  var progress: String? {
    guard isMeasured else { return nil }
    guard let (beacon, link) = survey.leader else {
      return "\(places[index].name): nothing received yet"
    }
    let level = link.survey.level.map {
      "\(fixed($0.mean, 1)) ± \(fixed(1.96 * $0.error, 1)) dBm, "
    }
    return "\(places[index].name): \(beacon)  \(level ?? "")"
      + "\(counted(link.survey.count, "packet")) in \(fixed(link.survey.seconds, 0)) s"
  }

  /// Takes the number of Return keys since the last call, or `nil` after the end of standard input.
  /// Keys during a measurement are dropped unless they are kept, since a pipe's lines come
  /// together.
  mutating func receive(returns count: Int?, areKept: Bool) {
    returns = (areKept ? returns : 0) + (count ?? 0)
    guard !isMeasured, !isOver else { return }
    if returns > 0 {
      returns -= 1
      isMeasured = true
      began = nil
      lastCheck = 0
    } else if count == nil {
      failure =
        "standard input ended before \(places[index].name) was measured; run it in a terminal, or "
        + "give it a line for each place"
    }
  }

  mutating func receive(_ sightings: [Sighting]) -> [String] {
    for sighting in sightings where isMeasured {
      let start = began ?? sighting.time
      began = start
      let seconds = sighting.time.seconds(since: start)
      if seconds < Self.settlingTime { continue }
      survey.receive(sighting)
      guard seconds - lastCheck >= Self.checkInterval else { continue }
      lastCheck = seconds
      if seconds > Self.longestTime || survey.isEnough { return finishPlace() }
    }
    return []
  }

  private mutating func finishPlace() -> [String] {
    let (place, summary) = (places[index], progress ?? "")
    isMeasured = false
    do throws(CommandError) {
      try survey.finishPlace()
    } catch {
      return ["\(place.name): \(error.message)", instruction]
    }
    index += 1
    return ["\(summary): enough"] + (isOver ? [] : [instruction])
  }
}
