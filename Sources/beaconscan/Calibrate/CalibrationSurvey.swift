import Advertising
import Frontends
import Ranging
import Records
import Scanning

/// The levels of one beacon at all places of a calibration. At each place it tracks at most 64
/// beacons with 8 adapters each, in 4 MiB.
struct CalibrationSurvey {
  struct Link {
    var adapter: UInt16
    var statedPower: Int8
    var survey = PlaceSurvey()
  }

  let regions: [NamedRegion]
  /// The beacon to calibrate: the strongest matching one at the first place.
  private(set) var beacon: BeaconIdentity?
  /// The adapters that received the beacon at the first place, with their levels at all places.
  private(set) var adapters: [(link: Link, levels: [(level: PlaceSurvey.Level, packets: Int)])] = []

  private var table = BeaconTable<[Link]>(capacity: maximumBeacons)
  private static let (maximumBeacons, maximumAdapters) = (64, 8)
  /// The least difference between the strongest beacon and the next, in dB.
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

  var leader: (beacon: BeaconIdentity, link: Link)? {
    guard let entry = candidates.first?.entry else { return nil }
    return entry.state.max { $0.survey.count < $1.survey.count }.map { (entry.beacon, $0) }
  }

  var isEnough: Bool {
    guard let entry = candidates.first?.entry else { return false }
    return entry.state.allSatisfy { $0.survey.isEnough }
  }

  /// Ends a place. If it cannot be used, its packets are dropped.
  mutating func finishPlace() throws(CommandError) {
    let candidates = candidates
    table = BeaconTable(capacity: Self.maximumBeacons)
    guard let (entry, level) = candidates.first,
      entry.state.contains(where: { $0.survey.level != nil })
    else {
      let count = candidates.first?.entry.state.map(\.survey.count).max() ?? 0
      throw CommandError(.badData, "\(CalibrationProblem.tooFewPackets(count))")
    }
    if let other = candidates.dropFirst().first, other.level > level - Self.leastLead {
      throw CommandError(
        .badData,
        "\(entry.beacon) and \(other.entry.beacon) are received nearly alike; name one"
          + " with --uuid, --major and --minor, or take the other away")
    }
    var found: [(link: Link, level: PlaceSurvey.Level)] = []
    for link in entry.state {
      do throws(CalibrationProblem) {
        found.append((link, try link.survey.usableLevel()))
      } catch {
        throw CommandError(
          .badData, entry.state.count > 1 ? "hci\(link.adapter): \(error)" : "\(error)")
      }
    }
    if beacon == nil {
      beacon = entry.beacon
      adapters = found.map { ($0.link, []) }
    }
    for adapter in adapters.map(\.link.adapter)
    where !found.contains(where: { $0.link.adapter == adapter }) {
      throw CommandError(.badData, "hci\(adapter): \(CalibrationProblem.tooFewPackets(0))")
    }
    for index in adapters.indices {
      for found in found where found.link.adapter == adapters[index].link.adapter {
        adapters[index].levels.append((found.level, found.link.survey.count))
      }
    }
  }

  /// The beacons of this place with their levels in dBm, strongest first. Those with too few
  /// packets follow, with levels below those of any signal.
  private var candidates: [(entry: BeaconTable<[Link]>.Entry, level: Double)] {
    table.entries.map { entry in
      let levels = entry.state.compactMap { $0.survey.level?.mean }
      let count = entry.state.map(\.survey.count).max() ?? 0
      return (entry, levels.max() ?? Double(count) - 1000)
    }.sorted { $0.level > $1.level }
  }
}
