import Records
import Scanning

/// The adapters' states, numbers of faults, and lost reception of a live run.
struct HealthTally {
  private struct Adapter {
    var latest: ScannerHealth
    var faults = 0

    var state: String {
      let address = latest.address.map { " (\($0))" } ?? ""
      return "\(latest.adapter ?? "all adapters")\(address): \(latest.condition.rawValue)"
    }

    var faultCount: String { faults == 0 ? "no faults" : counted(faults, "fault") }
  }

  private var adapters: [Adapter] = []
  private var lostSince: MonotonicTime?
  private var lost: Int64 = 0

  mutating func update(_ health: ScannerHealth) {
    // A report about one adapter ends a fault of all.
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
      // A fault that follows another one is not counted.
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

  private static let maximumAdapters = 64

  var trouble: String? {
    let sentences = adapters.map(\.latest).filter { $0.condition != .scanning }.map(\.sentence)
    return sentences.isEmpty ? nil : sentences.joined(separator: "; ")
  }

  private func times(_ listened: (from: MonotonicTime, to: MonotonicTime)?) -> (
    total: Double, lost: Double
  ) {
    guard let (from, to) = listened else { return (0, 0) }
    let total = max(0, to.seconds(since: from))
    let still = lostSince.map { max(0, to.nanoseconds(since: $0)) } ?? 0
    return (total, min(total, Double(lost + still) / 1e9))
  }

  func hasNeverReceived(_ listened: (from: MonotonicTime, to: MonotonicTime)?) -> Bool {
    let (total, lost) = times(listened)
    return total > 0 && total - lost < 0.1
  }

  func sentence(_ name: String, _ listened: (from: MonotonicTime, to: MonotonicTime)?) -> String {
    let (total, lost) = times(listened)
    let time =
      lost > 0
      ? "reception lost for \(fixed(lost, 1)) s of \(fixed(total, 1)) s"
      : "reception never lost in \(fixed(total, 1)) s"
    guard !adapters.isEmpty else { return "\(name): \(time)" }
    // With one adapter, faults and lost time belong together.
    if adapters.count == 1 { return "\(adapters[0].state); \(adapters[0].faultCount), \(time)" }
    return (adapters.map { "\($0.state), \($0.faultCount)" } + [time]).joined(separator: "; ")
  }
}
