import Positioning
import Scanning

/// The visits and the significant changes of a group. Functions return the events, in order.
struct GroupDetectors {
  enum Event: Equatable {
    case visit(Visit)
    case significantChange(Fix)
    /// The fix with which significant changes begin for a client.
    case first(Fix, ClientIdentifier)
  }

  private struct Changes {
    var rule = SignificantChange()
    var started: Set<ClientIdentifier> = []
    var waiting: Set<ClientIdentifier> = []
  }

  /// The arrival that was reported last, with its wall-clock time at the report.
  private var arrival: (time: MonotonicTime, wallClockTime: WallClockTime)?

  private(set) var visits: VisitDetector?
  private var changes: Changes?

  var changeRule: SignificantChange? { changes?.rule }

  func receivesChanges(_ client: ClientIdentifier) -> Bool {
    changes?.started.contains(client) ?? false
  }

  /// Returns a visit with the reported arrival: the source's time stops during a suspend.
  mutating func report(_ visit: Visit, _ offset: WallClockOffset) -> VisitReport {
    var report = VisitReport(visit, offset)
    if let arrival, arrival.time == visit.arrival { report.arrival = arrival.wallClockTime }
    arrival = visit.arrival.flatMap { time in report.arrival.map { (time, $0) } }
    return report
  }

  var requests: [LocationRequest] {
    [visits.map { .visits(isStaying: $0.isStaying) }, changes.map { _ in .significantChange }]
      .compactMap(\.self)
  }

  /// The time of the next call of ``advance(to:)``, unless a fix comes before.
  var deadline: MonotonicTime? {
    [visits?.deadline, changes?.rule.deadline].compactMap(\.self).min()
  }

  mutating func startVisits() { visits = visits ?? VisitDetector() }

  mutating func stopVisits() { visits = nil }

  /// Starts significant changes. Each client's first start in this process delivers the latest or
  /// next fix to it.
  mutating func startChanges(for client: ClientIdentifier, latest: Fix?) -> [Event] {
    guard var known = changes else {
      var new = Changes(started: [client])
      let cached = new.rule.start(cached: latest)
      changes = new
      return cached.map { [.significantChange($0)] } ?? []
    }
    guard known.started.insert(client).inserted else { return [] }
    if latest == nil { known.waiting.insert(client) }
    changes = known
    return latest.map { [.first($0, client)] } ?? []
  }

  mutating func stopChanges() { changes = nil }

  mutating func remove(_ client: ClientIdentifier) {
    changes?.started.remove(client)
    changes?.waiting.remove(client)
  }

  mutating func receive(_ fix: Fix) -> [Event] {
    let visited = rest(at: fix)
    let waiting = changes?.waiting ?? []
    changes?.waiting = []
    if let change = changes?.rule.receive(fix) { return visited + [.significantChange(change)] }
    return visited + waiting.sorted { $0.rawValue < $1.rawValue }.map { .first(fix, $0) }
  }

  /// Receives the latest fix as one of now, because the receiver rests. No change is significant.
  mutating func rest(at fix: Fix) -> [Event] { Self.events(visits?.receive(fix) ?? []) }

  mutating func advance(to now: MonotonicTime) -> [Event] {
    let change = changes?.rule.advance(to: now)
    return Self.events(visits?.advance(to: now) ?? [])
      + (change.map { [.significantChange($0)] } ?? [])
  }

  private static func events(_ changes: [VisitDetector.Change]) -> [Event] {
    changes.map { change in
      switch change {
      case .arrived(let visit), .departed(let visit): .visit(visit)
      }
    }
  }

  mutating func restore(_ detector: VisitDetector, _ offset: WallClockOffset) {
    visits = detector
    visits?.move(by: offset.nanoseconds)
  }

  mutating func restore(_ rule: SignificantChange, _ offset: WallClockOffset) {
    changes = Changes(rule: rule)
    changes?.rule.move(by: offset.nanoseconds)
  }

  /// Moves restored times to the source's time. Times later than now become now: the clock was set
  /// back, or is not set yet.
  mutating func start(_ offset: WallClockOffset, at now: MonotonicTime) {
    visits?.move(by: 0 &- offset.nanoseconds)
    if let latest = visits?.latestTime, latest > now {
      visits?.move(by: now.nanoseconds(since: latest))
    }
    changes?.rule.move(by: 0 &- offset.nanoseconds)
    if let latest = changes?.rule.latestTime, latest > now {
      changes?.rule.move(by: now.nanoseconds(since: latest))
    }
  }
}
