import Advertising
import Frontends
import Ranging
import Records
import Scanning

/// The levels of one beacon at all places of a calibration.
///
/// Of each place at most 64 beacons are followed, by 8 adapters each: 4 MiB.
struct CalibrationSurvey {
  /// What was received at one place of one beacon by one adapter.
  struct Link {
    var adapter: UInt16
    var statedPower: Int8
    var survey = PlaceSurvey()
  }

  /// Why a place, or all of them, cannot be used: one sentence.
  struct Failure: Error {
    var message: String
  }

  let regions: [NamedRegion]
  /// The beacon that is calibrated: the strongest of those that count at the first place.
  private(set) var beacon: BeaconIdentity?
  /// The adapters that received it at the first place, with the levels at all places so far.
  private(set) var adapters: [(link: Link, levels: [(level: PlaceSurvey.Level, packets: Int)])] = []

  private var table = BeaconTable<[Link]>(capacity: maximumBeacons)
  private static let (maximumBeacons, maximumAdapters) = (64, 8)
  /// By how much the strongest beacon must be stronger than the next, in dB.
  private static let leastLead = 6.0

  init(regions: [NamedRegion]) { self.regions = regions }

  mutating func receive(_ sighting: Sighting) {
    guard let rssi = sighting.rssi, beacon == nil || beacon == sighting.beacon,
      regions.include(sighting.beacon)
    else { return }
    table.update(sighting.beacon, at: sighting.time) {
      []
    } update: { links in
      var place = links.firstIndex { $0.adapter == sighting.adapter }
      if place == nil, links.count < Self.maximumAdapters {
        links.append(Link(adapter: sighting.adapter, statedPower: sighting.measuredPower))
        place = links.count - 1
      }
      let seconds = Double(sighting.time.nanoseconds) / 1e9
      if let place { links[place].survey.receive(rssi, at: seconds) }
    }
  }

  /// The beacon and the link with the most packets at this place so far.
  var leader: (beacon: BeaconIdentity, link: Link)? {
    guard let entry = candidates.first?.entry else { return nil }
    return entry.state.max { $0.survey.count < $1.survey.count }.map { (entry.beacon, $0) }
  }

  /// Whether more packets at this place would change little.
  var isEnough: Bool {
    guard let entry = candidates.first?.entry else { return false }
    return entry.state.allSatisfy { $0.survey.isEnough }
  }

  /// Ends a place and begins the next one; what was received is dropped where the place cannot be used.
  mutating func finishPlace() throws(Failure) {
    let candidates = candidates
    table = BeaconTable(capacity: Self.maximumBeacons)
    guard let (entry, level) = candidates.first,
      entry.state.contains(where: { $0.survey.level != nil })
    else {
      let count = candidates.first?.entry.state.map(\.survey.count).max() ?? 0
      throw Failure(message: "\(CalibrationProblem.tooFewPackets(count))")
    }
    if let other = candidates.dropFirst().first, other.level > level - Self.leastLead {
      throw Failure(
        message: "\(entry.beacon) and \(other.entry.beacon) are received nearly alike; name one"
          + " with --uuid, --major and --minor, or take the other away")
    }
    var found: [(link: Link, level: PlaceSurvey.Level)] = []
    for link in entry.state {
      do throws(CalibrationProblem) {
        found.append((link, try link.survey.usableLevel()))
      } catch {
        throw Failure(message: entry.state.count > 1 ? "hci\(link.adapter): \(error)" : "\(error)")
      }
    }
    if beacon == nil {
      beacon = entry.beacon
      adapters = found.map { ($0.link, []) }
    }
    for adapter in adapters.map(\.link.adapter)
    where !found.contains(where: { $0.link.adapter == adapter }) {
      throw Failure(message: "hci\(adapter): \(CalibrationProblem.tooFewPackets(0))")
    }
    for index in adapters.indices {
      for found in found where found.link.adapter == adapters[index].link.adapter {
        adapters[index].levels.append((found.level, found.link.survey.count))
      }
    }
  }

  /// The beacons of this place with their levels in dBm, the strongest first. Those with too few packets come last, at a
  /// level that is less than any signal's.
  private var candidates: [(entry: BeaconTable<[Link]>.Entry, level: Double)] {
    table.entries.map { entry in
      let levels = entry.state.compactMap { $0.survey.level?.mean }
      let count = entry.state.map(\.survey.count).max() ?? 0
      return (entry, levels.max() ?? Double(count) - 1000)
    }.sorted { $0.level > $1.level }
  }
}
