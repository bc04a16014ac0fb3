import Glibc
import Scanning
import ServiceCore
import Synchronization

// A service that has nothing to do with beacons: a clock that ticks. It proves that the core knows no kind of
// service.

/// A source of ticks that a test makes.
final class TickSource: Source {
  struct Demand: Sendable, Codable {
    /// Every how many ticks one is needed.
    var every: Int
  }

  struct Stopped: Error {}

  struct State {
    var ticks: [Int] = []
    var hasStopped = false
    var demands: [Int] = []
    var rests = 0
  }

  let name = "a clock"
  let isRecorded = false
  let state = Mutex(State())

  var availability: ScannerAvailability { .available }

  func tick(_ number: Int) { state.withLock { $0.ticks.append(number) } }

  func stop() { state.withLock { $0.hasStopped = true } }

  /// A state of the clock, which it never reports.
  struct Health: SourceHealth {
    var time: MonotonicTime
    var sentence: String
    let isFault = false
    let availability = ScannerAvailability.available
    func isRepetition(of other: Health) -> Bool { true }
  }

  func receive(
    for demand: Demand, until deadline: MonotonicTime?, into inputs: inout [Int]
  ) throws -> SourceProgress<Health> {
    inputs = []
    for _ in 0..<10 {
      let (ticks, hasStopped) = state.withLock { state in
        defer { state.ticks.removeAll() }
        if state.demands.last != demand.every { state.demands.append(demand.every) }
        return (state.ticks, state.hasStopped)
      }
      if !ticks.isEmpty {
        inputs = ticks
        break
      }
      if hasStopped { throw Stopped() }
      usleep(1000)
    }
    return SourceProgress()
  }

  func rest() { state.withLock { $0.rests += 1 } }
}

/// What the clock reports.
enum TickEvent: ServiceEvent, Hashable {
  case tick(Int)
  /// An alarm that was registered went off, also for one who was not there.
  case alarm(String, at: Int)
  case ended(String)
}

/// The state machine of the clock.
struct TickService: Service {
  typealias Input = Int
  typealias Demand = TickSource.Demand
  typealias Health = TickSource.Health
  typealias Event = TickEvent

  static let name = "ticks"

  struct Alarm: Codable, Sendable, Hashable {
    var at: Int
  }

  struct AlarmState: Codable, Sendable {
    var hasGoneOff: Bool
  }

  typealias Registration = Alarm
  typealias RegistrationState = AlarmState

  private var listeners: [ClientIdentifier: Int] = [:]
  private var alarms: [String: (alarm: Alarm, group: ClientGroup)] = [:]
  private var isAuthorized = false
  private var hasEnded = false
  private(set) var latestTick = 0
  /// Called when the demand is read, under the service's lock.
  var readsDemand: @Sendable () -> Void = {}

  static func union(_ one: Demand, _ other: Demand) -> Demand {
    Demand(every: min(one.every, other.every))
  }

  static func replaces(_ new: Health, _ old: Health) -> Bool { true }

  var demand: ServiceDemand<TickSource.Demand>? {
    readsDemand()
    guard isAuthorized, !hasEnded, !listeners.isEmpty || !alarms.isEmpty else { return nil }
    return ServiceDemand(TickSource.Demand(every: listeners.values.min() ?? 1))
  }

  var alarmNames: [String] { alarms.keys.sorted() }

  mutating func listen(_ client: ServiceClient, every count: Int) {
    listeners[client.identifier] = count
  }

  mutating func set(
    _ alarm: Alarm, named name: String, in group: ClientGroup,
    into output: inout ServiceOutput<Self>
  ) {
    alarms[name] = (alarm, group)
    output.register(alarm, as: name, in: group, state: nil)
  }

  mutating func cancel(
    _ name: String, in group: ClientGroup, into output: inout ServiceOutput<Self>
  ) {
    alarms[name] = nil
    output.unregister(name, in: group)
  }

  mutating func process(
    _ input: inout ServiceInput<Self>, into output: inout ServiceOutput<Self>
  ) -> Bool {
    guard !input.values.isEmpty else { return true }
    let tick = input.values.removeFirst()
    latestTick = tick
    for (client, every) in listeners where tick.isMultiple(of: every) {
      output.deliver(.tick(tick), to: client)
    }
    for (name, set) in alarms where set.alarm.at == tick {
      output.deliver(
        .alarm(name, at: tick), of: name, in: set.group, state: AlarmState(hasGoneOff: true))
    }
    return input.values.isEmpty
  }

  mutating func rest() {}

  mutating func end(
    _ sentence: String, isFailure: Bool, into output: inout ServiceOutput<Self>
  ) {
    hasEnded = true
    output.deliverToAll(.ended(sentence))
  }

  mutating func setAuthorization(
    _ status: AuthorizationStatus, into output: inout ServiceOutput<Self>
  ) {
    isAuthorized = status.isAuthorized
  }

  mutating func remove(_ client: ClientIdentifier) { listeners[client] = nil }

  mutating func restore(_ stored: [StoredRegistration<Self>]) {
    for alarm in stored { alarms[alarm.identifier] = (alarm.registration, alarm.group) }
  }
}
