import Advertising
import Scanning

/// What a live run adds up to: how each adapter is, how often it failed, and how long nothing was heard.
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
  private var deafSince: MonotonicTime?
  private var deafness: Int64 = 0

  /// Takes a change.
  mutating func note(_ health: ScannerHealth) {
    // What is said of one adapter is said after what was the matter with all.
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
    } else if adapters.count < Self.mostAdapters {
      adapters.append(Adapter(latest: health, faults: health.condition.isFault ? 1 : 0))
    }
    if health.isReceptionLost {
      deafSince = deafSince ?? health.time
    } else if let since = deafSince {
      deafness += max(0, health.time.nanoseconds(since: since))
      deafSince = nil
    }
  }

  /// The most adapters that are told of.
  private static let mostAdapters = 64

  /// What is the matter with any adapter now; `nil` if nothing is.
  var trouble: String? {
    let sentences = adapters.map(\.latest).filter { $0.condition != .scanning }.map(\.sentence)
    return sentences.isEmpty ? nil : sentences.joined(separator: "; ")
  }

  /// One sentence, without a full stop.
  ///
  /// - Parameters:
  ///   - name: What listened, for where nothing was said of it.
  ///   - listened: From when until when; `nil` if it did not come to that.
  /// - Returns: The sentence.
  func sentence(_ name: String, _ listened: (from: MonotonicTime, to: MonotonicTime)?) -> String {
    let end = listened?.to
    let total = listened.map { max(0, $0.to.seconds(since: $0.from)) } ?? 0
    let still = deafSince.flatMap { since in end.map { max(0, $0.nanoseconds(since: since)) } } ?? 0
    let deaf = min(total, Double(deafness + still) / 1e9)
    let time =
      deaf > 0
      ? "deaf for \(fixed(deaf, 1)) s of \(fixed(total, 1)) s"
      : "never deaf in \(fixed(total, 1)) s"
    guard !adapters.isEmpty else { return "\(name): \(time)" }
    let states = adapters.map { adapter in
      let count = adapter.faults == 0 ? "no" : String(adapter.faults)
      let faults = adapter.faults == 1 ? "fault" : "faults"
      return (
        state: "\(adapter.name): \(adapter.latest.condition.rawValue)",
        faults: "\(count) \(faults)"
      )
    }
    // Of one adapter, faults and deafness go together.
    if states.count == 1 { return "\(states[0].state); \(states[0].faults), \(time)" }
    return (states.map { "\($0.state), \($0.faults)" } + [time]).joined(separator: "; ")
  }
}
