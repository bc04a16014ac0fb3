import Frontends
import Ranging
import Records
import Scanning

/// The dialog of a live calibration: which place is next, when it is measured, and when that is enough.
struct CalibrationGuide {
  private(set) var survey: CalibrationSurvey
  /// Why the dialog ended before its end.
  private(set) var failure: String?
  private let places: [CalibrationPlace.Position]
  private var index = 0
  /// When the place began to be measured; `nil` while the beacon is being placed.
  private var began: MonotonicTime?
  private var isMeasured = false
  /// The time of the last check whether the place is measured well enough, in seconds since ``began``.
  private var lastCheck = 0.0
  /// The number of Returns that have not begun a place yet.
  private var returns = 0

  /// The longest time that a place is measured, in seconds.
  private static let longestTime = 180.0
  /// The seconds at the start of a place that do not count, because a hand is still at the beacon.
  private static let settlingTime = 1.0
  /// The seconds between two checks, as each check reads all packets.
  private static let checkInterval = 0.5

  init(_ places: [CalibrationPlace.Position], regions: [NamedRegion]) {
    self.places = places
    survey = CalibrationSurvey(regions: regions)
  }

  var isOver: Bool { index == places.count || failure != nil }

  /// What is to be done now.
  var instruction: String {
    "\(index + 1) of \(places.count): \(places[index].instruction), and press Return."
  }

  /// What is known of the place that is measured; `nil` while none is.
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

  /// Receives how often Return was pressed since the last call, or `nil` after the end of standard input, and begins
  /// to measure the place at which the beacon now is.
  ///
  /// A Return that is pressed while a place is measured counts for nothing, unless it is to be kept for the next place:
  /// lines from a pipe may all come at once.
  mutating func receive(returns count: Int?, areKept: Bool) {
    returns = (areKept ? returns : 0) + (count ?? 0)
    guard !isMeasured, !isOver else { return }
    if returns > 0 {
      returns -= 1
      (isMeasured, began, lastCheck) = (true, nil, 0)
    } else if count == nil {
      failure =
        "standard input ended before \(places[index].name) was measured; run it in a terminal, or "
        + "give it a line for each place"
    }
  }

  /// Receives sightings, and returns the lines that a person should read.
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
    do throws(CalibrationSurvey.Failure) {
      try survey.finishPlace()
    } catch {
      return ["\(place.name): \(error.message)", instruction]
    }
    index += 1
    return ["\(summary): enough"] + (isOver ? [] : [instruction])
  }
}
