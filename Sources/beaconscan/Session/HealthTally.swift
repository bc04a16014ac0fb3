import Advertising
import Records
import Scanning

/// What a live run adds up to: how each adapter is, how often it failed, and how long reception was lost.
struct HealthTally {
  private struct Adapter {
    var latest: ScannerHealth
    var faults = 0

    var name: String {
      let name = latest.adapter ?? "all adapters"
      return latest.address.map { "\(name) (\($0))" } ?? name
    }
  }

  private var adapters: [Adapter] = []
  private var lostSince: MonotonicTime?
  private var lost: Int64 = 0

  /// Counts a change.
  mutating func update(_ health: ScannerHealth) {
    // A report about one adapter follows the end of a fault of all.
    if health.adapter != nil, let all = adapters.firstIndex(where: { $0.latest.adapter == nil }) {
      adapters[all].latest.condition = .scanning
    }
    let place = adapters.firstIndex { known in
      if let address = known.latest.address, let theirs = health.address {
        return address == theirs
      }
      return known.latest.adapter == health.adapter
    }
    if let place {
      // From one fault into another it is the same trouble.
      let isNew = health.condition.isFault && !adapters[place].latest.condition.isFault
      adapters[place].faults += isNew ? 1 : 0
      adapters[place].latest = health
    } else if adapters.count < Self.maximumAdapters {
      adapters.append(Adapter(latest: health, faults: health.condition.isFault ? 1 : 0))
    }
    if health.isReceptionLost {
      lostSince = lostSince ?? health.time
    } else if let since = lostSince {
      lost += max(0, health.time.nanoseconds(since: since))
      lostSince = nil
    }
  }

  /// The maximum number of adapters that are counted.
  private static let maximumAdapters = 64

  /// The faults of any adapter now; `nil` if there is none.
  var trouble: String? {
    let sentences = adapters.map(\.latest).filter { $0.condition != .scanning }.map(\.sentence)
    return sentences.isEmpty ? nil : sentences.joined(separator: "; ")
  }

  /// One sentence, without a full stop.
  ///
  /// - Parameters:
  ///   - name: The scanner's name, for where no adapter reported.
  ///   - listened: From when until when it received; `nil` if it did not start.
  /// - Returns: The sentence.
  func sentence(_ name: String, _ listened: (from: MonotonicTime, to: MonotonicTime)?) -> String {
    let end = listened?.to
    let total = listened.map { max(0, $0.to.seconds(since: $0.from)) } ?? 0
    let still = lostSince.flatMap { since in end.map { max(0, $0.nanoseconds(since: since)) } } ?? 0
    let without = min(total, Double(lost + still) / 1e9)
    let time =
      without > 0
      ? "reception lost for \(fixed(without, 1)) s of \(fixed(total, 1)) s"
      : "reception never lost in \(fixed(total, 1)) s"
    guard !adapters.isEmpty else { return "\(name): \(time)" }
    let states = adapters.map { adapter in
      let count = adapter.faults == 0 ? "no" : String(adapter.faults)
      let faults = adapter.faults == 1 ? "fault" : "faults"
      return (
        state: "\(adapter.name): \(adapter.latest.condition.rawValue)",
        faults: "\(count) \(faults)"
      )
    }
    // Of one adapter, faults and lost time go together.
    if states.count == 1 { return "\(states[0].state); \(states[0].faults), \(time)" }
    return (states.map { "\($0.state), \($0.faults)" } + [time]).joined(separator: "; ")
  }
}
