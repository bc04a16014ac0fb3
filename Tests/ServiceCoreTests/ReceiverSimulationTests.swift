import Advertising
import FoundationEssentials
import Positioning
import Regions
import Scanning
import Synchronization
import TestSupport
import Testing

@testable import LiveScanning
@testable import LocationSources
@testable import ServiceCore

/// Pairs of sources with faults, rests and switches between them, driven by a seeded scheduler on simulated time.
///
/// The promises: after the last fault has ended, reception is reported within a second; and nothing is exited that was
/// there all the time.
@Suite(.blocking, .timeLimit(.minutes(30))) struct ReceiverSimulationTests {
  /// The seeds: `SERVICE_SEEDS=10000` as CI runs it, `SERVICE_SEED=17` for one.
  private static var seeds: ClosedRange<UInt64> {
    let environment = ProcessInfo.processInfo.environment
    if let one = environment["SERVICE_SEED"].flatMap(UInt64.init) { return one...one }
    return 0...max(1, environment["SERVICE_SEEDS"].flatMap(UInt64.init) ?? 300) - 1
  }

  @Test func reception() throws {
    var failed = 0
    var switches = 0
    for seed in Self.seeds where failed < 5 {
      var simulation = RadioSimulation(seed: seed)
      let wrong = try simulation.run()
      #expect(wrong.isEmpty, "SERVICE_SEED=\(seed): \(wrong.prefix(3).joined(separator: "; "))")
      failed += wrong.isEmpty ? 0 : 1
      switches += simulation.switches
    }
    #expect(switches > 0 || Self.seeds.count == 1, "no way to receive was ever left for the other")
  }

  @Test func positions() throws {
    var failed = 0
    for seed in Self.seeds where failed < 5 {
      var simulation = try PositionSimulation(seed: seed)
      let wrong = try simulation.run()
      #expect(wrong.isEmpty, "SERVICE_SEED=\(seed): \(wrong.prefix(3).joined(separator: "; "))")
      failed += wrong.isEmpty ? 0 : 1
    }
  }
}

/// A clock that the simulation moves.
private final class SimulatedClock: Sendable {
  private let time = Mutex(MonotonicTime(nanoseconds: 1_000_000_000_000))
  var now: MonotonicTime { time.withLock { $0 } }
  func advance(to moment: MonotonicTime) { time.withLock { $0 = max($0, moment) } }
}

private let second = MonotonicTime.nanosecondsPerSecond

/// A source that works or fails as the scheduler says. It reports each change once, some time after it happened, and its state
/// anew after a rest.
private final class SimulatedSource<Input: Sendable, Demand: Sendable, Health: SourceHealth>: Source
{
  struct State {
    var isFaulty = false
    var isPermitted = true
    /// When the condition changed last.
    var since = MonotonicTime(nanoseconds: 0)
    var told: Bool?
    var latest: MonotonicTime?
    var isResting = true
  }

  let name: String
  let isRecorded = false
  let counts = ScanCounts()
  let state = Mutex(State())
  private let clock: SimulatedClock
  private let interval: Int64
  private let makeInput: @Sendable (MonotonicTime) -> Input
  private let makeHealth: @Sendable (Bool, MonotonicTime) -> Health

  init(
    _ name: String, _ clock: SimulatedClock, interval: Int64,
    input: @escaping @Sendable (MonotonicTime) -> Input,
    health: @escaping @Sendable (_ isFaulty: Bool, MonotonicTime) -> Health
  ) {
    (self.name, self.clock, self.interval) = (name, clock, interval)
    (makeInput, makeHealth) = (input, health)
  }

  var availability: ScannerAvailability {
    state.withLock { state in
      if !state.isPermitted { return .notPermitted("\(name) is not permitted") }
      return state.isFaulty ? .unavailable("\(name) is down") : .available
    }
  }

  func fail(_ isFaulty: Bool) {
    let now = clock.now
    state.withLock { state in
      if state.isFaulty != isFaulty { (state.isFaulty, state.since) = (isFaulty, now) }
    }
  }

  func receive(
    for demand: Demand, until deadline: MonotonicTime?, into inputs: inout [Input]
  ) throws -> SourceProgress<Health> {
    inputs.removeAll(keepingCapacity: true)
    let start = clock.now
    clock.advance(
      to: min(deadline ?? MonotonicTime(nanoseconds: .max), start.advanced(by: second / 10)))
    let now = clock.now
    return state.withLock { state in
      state.isResting = false
      let isDown = state.isFaulty || !state.isPermitted
      var progress = SourceProgress<Health>(began: start, reached: now)
      if isDown != state.told {
        // A change is noticed a while after it happened, and a state anew at once.
        let moment = state.told == nil ? start : max(state.since, state.latest ?? start)
        progress.health = [makeHealth(isDown, moment)]
        state.told = isDown
      }
      if !isDown {
        var next = (start.nanoseconds / interval + 1) * interval
        while next <= now.nanoseconds {
          inputs.append(makeInput(MonotonicTime(nanoseconds: next)))
          next += interval
        }
      }
      state.latest = now
      return progress
    }
  }

  func rest() { state.withLock { ($0.told, $0.latest, $0.isResting) = (nil, nil, true) } }
}

extension SimulatedSource: Scanning.Scanner
where Input == Sighting, Demand == ScanDemand, Health == ScannerHealth {}

extension SimulatedSource: LocationSource
where Input == PositionInput, Demand == LocationDemand, Health == LocationHealth {}

/// Raw HCI and bluetoothd beneath the beacon service, with a beacon that is always there.
private struct RadioSimulation {
  private let clock = SimulatedClock()
  private let hci: SimulatedSource<Sighting, ScanDemand, ScannerHealth>
  private let bluez: SimulatedSource<Sighting, ScanDemand, ScannerHealth>
  private let scanner: LiveScanner
  private var machine = BeaconMachine(BeaconService.Configuration(), isRecorded: false)
  private var random: SplitMix64
  private let client = ClientIdentifier(rawValue: 1)
  private let region: BeaconRegion
  private(set) var switches = 0

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
    let uuid = ProximityUUID(high: 1, low: 2)
    region = BeaconRegion(identifier: "r", constraint: BeaconConstraint(uuid: uuid))
    let interval = [second / 10, second / 4, second].randomElement(using: &random) ?? second
    let make: (String) -> SimulatedSource<Sighting, ScanDemand, ScannerHealth> = { [clock] name in
      SimulatedSource(name, clock, interval: interval) { time in
        Sighting(
          time: time, wallTime: time.wallClockTime(.zero),
          beacon: BeaconIdentity(uuid: uuid, major: 1, minor: 1), measuredPower: -59, rssi: -60,
          address: BluetoothAddress(rawValue: 1), addressType: .random)
      } health: { isFaulty, time in
        ScannerHealth(
          isFaulty ? .down : .scanning, at: time, adapter: "hci0", isReceptionLost: isFaulty,
          sentence: isFaulty ? "\(name) is down" : "\(name) scans")
      }
    }
    (hci, bluez) = (make("hci"), make("bluez"))
    let isPermitted = random.uniform() < 0.7
    hci.state.withLock { $0.isPermitted = isPermitted }
    let discovers = random.uniform() < 0.3
    scanner = LiveScanner(LiveScanner.Configuration(), hci: hci, bluez: bluez) { [clock] in
      clock.now
    } view: { [bluez] _ in
      guard bluez.availability == .available else { return BlueZView(obstacle: .notRunning) }
      return BlueZView(adapters: [
        BlueZAdapterView(
          path: "/org/bluez/hci0",
          adapter: Adapter(
            index: 0, address: nil, isUp: true, block: nil, bus: "", features: [0, 0, 0, 0, 0x40]),
          isDiscovering: discovers, hasMonitors: true)
      ])
    }
  }

  /// Runs, and returns what was wrong.
  mutating func run() throws -> [String] {
    var wrong: [String] = []
    var output = ServiceOutput<BeaconMachine>()
    machine.setAuthorization(.authorizedAlways, into: &output)
    try register(into: &output)
    let end = clock.now.advanced(by: 25 * second)
    var due = clock.now
    while clock.now < end {
      if clock.now >= due {
        try act(into: &output)
        due = clock.now.advanced(by: Int64(random.uniform(0.02, 4) * 1e9))
      }
      try step(&output, &wrong)
    }
    // The last fault has ended.
    hci.fail(false)
    bluez.fail(false)
    try register(into: &output)
    if random.uniform() < 0.5 { range(true) }
    let limit = clock.now.advanced(by: second)
    while clock.now < limit { try step(&output, &wrong) }
    if let fault = machine.receivers.fault { wrong.append("still told: \(fault.sentence)") }
    if machine.engine.receptionLostSince != nil { wrong.append("reception is still lost") }
    let told = machine.receivers.latest.map(\.isReceptionLost)
    if told != [false] { wrong.append("the clients were told \(told)") }
    let last = clock.now.advanced(by: 12 * second)
    while clock.now < last { try step(&output, &wrong) }
    if machine.engine.monitor.state(of: "ar") != .inside { wrong.append("it is not inside") }
    return wrong
  }

  private mutating func register(into output: inout ServiceOutput<BeaconMachine>) throws {
    try machine.register(region, in: .application, assuming: nil, for: client, into: &output)
  }

  private mutating func range(_ isRanging: Bool) {
    machine.setNeeds(of: client) { $0.ranged = isRanging ? [RangingRequest(nil)] : [] }
  }

  private mutating func act(into output: inout ServiceOutput<BeaconMachine>) throws {
    switch random.next() % 9 {
    case 0, 1: hci.fail(true)
    case 2: hci.fail(false)
    case 3, 4: bluez.fail(true)
    case 5: bluez.fail(false)
    case 6: range(random.uniform() < 0.5)
    case 7: try register(into: &output)
    default:
      machine.unregister("r", in: .application, into: &output)
      range(false)
    }
  }

  private mutating func step(
    _ output: inout ServiceOutput<BeaconMachine>, _ wrong: inout [String]
  ) throws {
    guard let demand = machine.demand else {
      if !hci.state.withLock({ $0.isResting }) || !bluez.state.withLock({ $0.isResting }) {
        scanner.rest()
      }
      machine.rest()
      return clock.advance(to: clock.now.advanced(by: second / 20))
    }
    let before = scanner.choice?.backend
    var values: [Sighting] = []
    let progress = try scanner.receive(for: demand.demand, until: demand.deadline, into: &values)
    if let before, before != scanner.choice?.backend { switches += 1 }
    let used = [hci, bluez].filter { !$0.state.withLock { $0.isResting } }.count
    if used > 1 { wrong.append("both ways receive at \(clock.now)") }
    var input = ServiceInput<BeaconMachine>(
      values: values, progress: progress, demand: demand.demand)
    while !machine.process(&input, into: &output) {}
    for case .stored(.region(let event), _, _, _) in output.items
    where event.transition.change.state == .outside {
      wrong.append("\(event.transition.change) at \(event.transition.time)")
    }
    output = ServiceOutput()
  }
}

/// gpsd and GeoClue beneath the location service, of a device that stands still.
private struct PositionSimulation {
  private let clock = SimulatedClock()
  private let sources: [SimulatedSource<PositionInput, LocationDemand, LocationHealth>]
  private let source: AutomaticSource
  private var machine = LocationMachine(isRecorded: false)
  private var random: SplitMix64
  private let client = ClientIdentifier(rawValue: 1)
  private let place: Coordinate

  init(seed: UInt64) throws {
    let place = try #require(Coordinate(latitude: 0, longitude: 0))
    self.place = place
    random = SplitMix64(seed: seed)
    sources = ["gpsd", "GeoClue"].map { [clock] name in
      SimulatedSource(name, clock, interval: second) { time in
        var fix = Fix(
          time: time, timestamp: WallClockTime(nanoseconds: time.nanoseconds), place: place,
          horizontalAccuracy: 5)
        fix.speed = 0
        return .fix(fix)
      } health: { isFaulty, time in
        LocationHealth(
          isFaulty ? .notRunning : .receiving, at: time, sentence: "\(name), faulty \(isFaulty)")
      }
    }
    source = AutomaticSource(sources) { [clock] in clock.now }
  }

  mutating func run() throws -> [String] {
    var wrong: [String] = []
    var output = ServiceOutput<LocationMachine>()
    machine.setAuthorization(.authorizedAlways, into: &output)
    machine.startUpdates(UpdateSettings(), for: client, into: &output)
    let circle = MonitoredCircle(
      try CircularRegion(identifier: "c", center: place, radius: 200))
    try machine.circles.register(
      circle, in: .application, assuming: .inside, for: client, into: &output)
    let end = clock.now.advanced(by: 25 * second)
    var due = clock.now.advanced(by: second)
    while clock.now < end {
      if clock.now >= due {
        let index = Int(random.next() % 2)
        switch random.next() % 5 {
        case 0, 1: sources[index].fail(true)
        case 2, 3: sources[index].fail(false)
        default:
          source.rest()
          machine.rest()
        }
        due = clock.now.advanced(by: Int64(random.uniform(0.02, 6) * 1e9))
      }
      try step(&output, &wrong)
    }
    for one in sources { one.fail(false) }
    let limit = clock.now.advanced(by: second)
    while clock.now < limit { try step(&output, &wrong) }
    if machine.health?.condition.isFault != false {
      wrong.append("still told: \(machine.health?.sentence ?? "nothing")")
    }
    let latest = machine.latestFix?.time ?? MonotonicTime(nanoseconds: 0)
    if latest < limit.advanced(by: -2 * second) { wrong.append("the latest fix is of \(latest)") }
    return wrong
  }

  private mutating func step(
    _ output: inout ServiceOutput<LocationMachine>, _ wrong: inout [String]
  ) throws {
    guard let demand = machine.demand else { return wrong.append("there is no demand") }
    var values: [PositionInput] = []
    let before = clock.now
    // Where no source can be used, nothing is waited for on the machine's own clock.
    source.wake()
    var progress = try source.receive(for: demand.demand, until: demand.deadline, into: &values)
    if clock.now == before { clock.advance(to: before.advanced(by: second / 10)) }
    progress.reached = clock.now
    progress.wallClockOffset = .zero
    var input = ServiceInput<LocationMachine>(values: values, progress: progress)
    while !machine.process(&input, into: &output) {}
    for case .stored(.circle(let event), _, _, _) in output.items
    where event.transition.change.state == .outside {
      wrong.append("the circle was left at \(clock.now)")
    }
    output = ServiceOutput()
  }
}
