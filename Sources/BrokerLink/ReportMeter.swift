package import Advertising
import FleetReports
package import Scanning
import Synchronization

/// The sightings for a fleet's reports: those of the beacons to report, each from one adapter.
package final class SightingMeter: Sendable {
  private struct State {
    var adapters = AdapterChoice()
    var meter = ReportMeter()
  }

  private let uuids: [ProximityUUID]
  private let pins: [BeaconIdentity: BluetoothAddress]
  private let state = Mutex(State())

  /// Creates a meter for the beacons of these UUIDs, or all without one. `pins` has the only sender
  /// that counts of a beacon.
  package init(uuids: [ProximityUUID] = [], pins: [BeaconIdentity: BluetoothAddress] = [:]) {
    (self.uuids, self.pins) = (uuids, pins)
  }

  /// Receives sightings in the order of time.
  package func receive(_ sightings: [Sighting]) {
    state.withLock { state in
      for sighting in sightings {
        if !uuids.isEmpty, !uuids.contains(sighting.beacon.uuid) { continue }
        if let pin = pins[sighting.beacon], pin != sighting.address { continue }
        // A beacon that several adapters receive counts once, as in ranging.
        switch state.adapters.receive(sighting) {
        case .followed: state.meter.receive(sighting)
        case .presence: state.meter.receive(sighting, hasSignal: false)
        case .passedOver: continue
        }
      }
    }
  }

  /// Takes the sightings so far, and gives an empty meter for those that follow.
  func exchange(_ meter: inout ReportMeter) { state.withLock { swap(&$0.meter, &meter) } }
}

/// The sightings of each beacon since the last report.
struct ReportMeter {
  private struct Tally {
    var beacon: BeaconIdentity
    var sightings = 0
    var measured = 0
    var sum = 0
    var squares = 0
    var maximum = Int8.min
    var measuredPower: Int8 = 0
  }

  private var places: [BeaconIdentity: Int] = [:]
  private var tallies: [Tally] = []
  /// The sightings of beacons for which there was no room.
  private(set) var leftOut = 0

  /// Receives a sighting. One that counts only for presence has no signal.
  mutating func receive(_ sighting: Sighting, hasSignal: Bool = true) {
    let place: Int
    if let known = places[sighting.beacon] {
      place = known
    } else {
      guard tallies.count < ReceiverReport.maximumBeacons else {
        leftOut += 1
        return
      }
      place = tallies.count
      places[sighting.beacon] = place
      tallies.append(Tally(beacon: sighting.beacon))
    }
    tallies[place].sightings += 1
    tallies[place].measuredPower = sighting.measuredPower
    guard hasSignal, let rssi = sighting.rssi else { return }
    // The range of the HCI's signal strengths; a recording may have others.
    let value = min(max(rssi, -127), 20)
    tallies[place].measured += 1
    tallies[place].sum += Int(value)
    tallies[place].squares += Int(value) * Int(value)
    tallies[place].maximum = max(tallies[place].maximum, value)
  }

  /// Appends the beacons to a report, and forgets them. The memory stays for the next ones.
  mutating func move(to report: inout ReceiverReport) {
    for tally in tallies {
      var signal: ReceiverReport.Signal?
      if tally.measured > 0 {
        let count = Double(tally.measured)
        // Exact in integers: the mean of the squares less the square of the mean.
        let spread = tally.squares * tally.measured - tally.sum * tally.sum
        signal = ReceiverReport.Signal(
          mean: Double(tally.sum) / count, variance: Double(spread) / (count * count),
          maximum: tally.maximum)
      }
      report.beacons.append(
        ReceiverReport.Beacon(
          tally.beacon, sightings: min(tally.sightings, ReceiverReport.maximumSightings),
          signal: signal, measuredPower: tally.measuredPower))
    }
    places.removeAll(keepingCapacity: true)
    tallies.removeAll(keepingCapacity: true)
    leftOut = 0
  }
}
