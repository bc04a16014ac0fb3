package import Advertising
package import Fusion

/// How often the rooms of beacons are right, compared with the truth.
package struct RoomScore: Sendable, Hashable {
  /// The bins of a reliability diagram: each has the probabilities from n/10 to (n + 1)/10.
  package struct Bin: Sendable, Hashable {
    package var count = 0
    package var right = 0
    package var probability = 0.0
  }

  private struct State: Sendable, Hashable {
    var truth: String
    var room: String?
    /// The second of the change of the truth that no answer has followed yet.
    var changed: Int64?
  }

  /// The seconds of beacons, in which the answer was right, wrong, or not known.
  package private(set) var right = 0
  package private(set) var wrong = 0
  package private(set) var unknown = 0
  /// The changes of the answer to a room in which the beacon was not.
  package private(set) var falseChanges = 0
  /// The seconds after which an answer followed each change of the truth, in no order.
  package private(set) var latencies: [Int64] = []
  /// The changes of the truth that no answer followed before the next one.
  package private(set) var missed = 0
  package private(set) var bins = Array(repeating: Bin(), count: 10)
  private var states: [BeaconIdentity: State] = [:]

  package init() {}

  /// Takes a second of a beacon: the answer, the probability of the best room, and the truth.
  package mutating func add(
    _ beacon: BeaconIdentity, room: String?, best: RoomEstimate.Candidate?, truth: String,
    second: Int64
  ) {
    if room == truth { right += 1 } else if room == nil { unknown += 1 } else { wrong += 1 }
    if let best {
      let bin = min(9, Int(best.probability * 10))
      bins[bin].count += 1
      bins[bin].probability += best.probability
      if best.place == .room(truth) { bins[bin].right += 1 }
    }
    var state = states[beacon] ?? State(truth: truth, room: room)
    if state.truth != truth {
      if state.changed != nil { missed += 1 }
      state.changed = second
      state.truth = truth
    }
    if room != state.room, room != nil, room != truth { falseChanges += 1 }
    if room == truth, let changed = state.changed {
      latencies.append(second - changed)
      state.changed = nil
    }
    state.room = room
    states[beacon] = state
  }

  /// Adds the score of another recording.
  package mutating func merge(_ other: RoomScore) {
    right += other.right
    wrong += other.wrong
    unknown += other.unknown
    falseChanges += other.falseChanges
    latencies += other.latencies
    missed += other.missed
    for index in bins.indices {
      bins[index].count += other.bins[index].count
      bins[index].right += other.bins[index].right
      bins[index].probability += other.bins[index].probability
    }
  }

  package var seconds: Int { right + wrong + unknown }

  /// The share of seconds in which the answer was right.
  package var rightShare: Double { Double(right) / Double(max(1, seconds)) }
  package var wrongShare: Double { Double(wrong) / Double(max(1, seconds)) }

  /// The false changes of a beacon in an hour.
  package var falseChangesPerHour: Double { Double(falseChanges) * 3600 / Double(max(1, seconds)) }

  /// A part of the latencies, in seconds.
  package func latency(_ part: Double) -> Int64? {
    guard !latencies.isEmpty else { return nil }
    return latencies.sorted()[Int(Double(latencies.count - 1) * part)]
  }

  /// The mean difference between the probability and the share of right rooms, over the bins
  /// (Naeini, Cooper and Hauskrecht, AAAI 2015).
  package var expectedCalibrationError: Double {
    let count = bins.reduce(0) { $0 + $1.count }
    return bins.reduce(0) { sum, bin in
      sum + abs(bin.probability - Double(bin.right)) / Double(max(1, count))
    }
  }
}

/// The room of the receiver with the strongest mean, as the nearest-receiver rule of many products.
package struct NearestReceiver: Sendable {
  private let rooms: [String: String]
  private var newest: [BeaconIdentity: String] = [:]

  package init(_ site: Site) {
    rooms = Dictionary(
      site.receivers.compactMap { receiver in
        let room =
          receiver.room
          ?? receiver.position.flatMap { position in
            site.rooms.first { $0.floor == receiver.floor && $0.contains(position) }?.name
          }
        return room.map { (receiver.name, $0) }
      }, uniquingKeysWith: { $1 })
  }

  /// Takes all reports of a second.
  package mutating func receive(_ reports: [ReceiverSecond]) {
    var best: [BeaconIdentity: Double] = [:]
    for report in reports {
      for reception in report.receptions {
        guard let mean = reception.mean, mean > best[reception.beacon] ?? -.infinity,
          let room = rooms[report.receiver]
        else { continue }
        best[reception.beacon] = mean
        newest[reception.beacon] = room
      }
    }
  }

  package func room(of beacon: BeaconIdentity) -> String? { newest[beacon] }
}
