import Glibc
import HCIPackets
import Scanning

/// What a scanner works with while it listens.
struct ListeningState: ~Copyable {
  var collector = SightingCollector()

  private let configuration: HCIScanner.Configuration
  private var links: [ListeningAdapter] = []
  private var buffer = MessageBuffer()
  private var polled: [pollfd] = []
  private var began: MonotonicTime?
  private var reached: MonotonicTime?
  private var latestRead = MonotonicTime(nanoseconds: 0)
  private var latestDemand = ScanDemand.none
  private var missing: ScannerHealth.Condition?
  private var nextCount: MonotonicTime?
  /// What one adapter heard after the moment up to which another one has been read.
  private var early: [Sighting] = []

  /// Reports that come faster than this are read together: one system call for many.
  private static let gathering: Int64 = 10_000_000

  init(_ configuration: HCIScanner.Configuration) {
    self.configuration = configuration
    switch configuration.adapters {
    case .firstUsable: links = [link(nil)]
    case .all: break
    case .these(let names):
      for name in names where !links.contains(where: { $0.name == name }) {
        links.append(link(name))
      }
    }
  }

  private func link(_ name: AdapterName?) -> ListeningAdapter {
    ListeningAdapter(name, quietLimit: Int64(configuration.quietLimit * 1e9))
  }

  mutating func listen(
    for demand: ScanDemand, until deadline: MonotonicTime?, into sightings: inout [Sighting]
  ) -> ScanProgress {
    let start = KernelClock.monotonic
    let began = self.began ?? start
    self.began = began
    findMore(at: start)
    // Before the scan is changed: whose it is by now may stand in what has not been read.
    if demand != latestDemand { drain(at: start) }
    latestDemand = demand
    tend(demand, at: start)
    wait(until: deadline, from: start)
    let now = KernelClock.monotonic
    let packets = collector.counts.packets
    read(at: now, into: &sightings)
    // What an answer brings on is sent at once.
    tend(demand, at: now)
    if collector.counts.packets != packets { latestRead = now }
    return ScanProgress(
      began: began, reached: reached,
      wallClockOffset: WallClockOffset(from: KernelClock.monotonic, to: KernelClock.wall),
      health: takeHealth())
  }

  mutating func rest() {
    drain(at: KernelClock.monotonic)
    // Nobody waits for it.
    early = []
    latestDemand = .none
    for link in links { link.rest { note(sent: $0, by: link) } }
  }

  /// With every adapter asked for: those that came.
  private mutating func findMore(at now: MonotonicTime) {
    guard configuration.adapters == .all, now >= nextCount ?? now else { return }
    nextCount = now.advanced(by: MonotonicTime.nanosecondsPerSecond)
    for adapter in (try? Adapter.all()) ?? []
    where !links.contains(where: { $0.means(adapter) }) {
      links.append(link(adapter.address.map { .address($0) } ?? .number(adapter.index)))
    }
  }

  private func tend(_ demand: ScanDemand, at now: MonotonicTime) {
    var parameters = ScanParameters.forDemand(demand)
    parameters.isActive = configuration.isActive
    parameters.usesCodedPHY = configuration.usesCodedPHY
    for link in links {
      let others = links.filter { $0 !== link && $0.socket != nil }.compactMap(\.index)
      link.tend(
        parameters, offsets: configuration.offsets, sparing: Set(others), at: now
      ) { note(sent: $0, by: link) }
    }
  }

  /// Waits until something can be read, or it is time for something else.
  private mutating func wait(until deadline: MonotonicTime?, from start: MonotonicTime) {
    let end = min(deadline ?? .max, start.advanced(by: HCIScanner.maximumReceiveTime))
    polled.removeAll(keepingCapacity: true)
    for link in links { polled.append(link.polled) }
    let left = max(0, end.nanoseconds(since: start))
    // Rounded up: what is due is then over. The array's memory is used during the call alone.
    unsafe poll(&polled, nfds_t(polled.count), Int32((left + 999_999) / 1_000_000))
    let now = KernelClock.monotonic
    let since = now.nanoseconds(since: latestRead)
    let gather = min(Self.gathering - since, end.nanoseconds(since: now))
    if gather > 0 { usleep(UInt32(gather / 1000)) }
  }

  private mutating func read(at now: MonotonicTime, into sightings: inout [Sighting]) {
    collector.removeSightings()
    collector.sightings += early
    early.removeAll(keepingCapacity: true)
    var all = now
    for link in links {
      all = min(
        all, link.read(&buffer, into: &collector, tap: configuration.packetTap, at: now))
    }
    swap(&collector.sightings, &sightings)
    reached = max(all, reached ?? all)
    guard links.count > 1 else { return }
    sightings.sort { $0.time < $1.time }
    while let last = sightings.last, last.time > all { early.append(sightings.removeLast()) }
  }

  /// Reads what waits without waiting for more; the sightings are given with the next ones.
  private mutating func drain(at now: MonotonicTime) {
    var sightings: [Sighting] = []
    read(at: now, into: &sightings)
    early = sightings + early
  }

  /// What changed, told of the scanner as a whole.
  private mutating func takeHealth() -> [ScannerHealth] {
    var health: [ScannerHealth] = []
    if links.isEmpty { health += noteMissing() }
    for link in links {
      for change in link.takeChanges() {
        let isReceptionLost = links.allSatisfy { $0 === link ? change.isReceptionLost : $0.control.isReceptionLost }
        health.append(
          ScannerHealth(
            change.condition, at: max(change.time, began ?? change.time), adapter: link.hostName,
            address: link.address, isReceptionLost: isReceptionLost,
            sentence: HealthSentence.of(
              change.condition, adapter: link.title, detail: change.detail)))
      }
    }
    return health
  }

  /// Says once that there is no adapter at all.
  private mutating func noteMissing() -> [ScannerHealth] {
    let condition: ScannerHealth.Condition = (try? Adapter.all()) == nil ? .noBluetooth : .removed
    guard condition != missing else { return [] }
    missing = condition
    let sentence =
      condition == .removed
      ? "there is no Bluetooth adapter; plug one in" : HealthSentence.of(condition, adapter: "")
    return [
      ScannerHealth(
        condition, at: KernelClock.monotonic, adapter: nil, isReceptionLost: true, sentence: sentence)
    ]
  }

  private func note(sent command: HCICommand, by link: ListeningAdapter) {
    guard let tap = configuration.packetTap, let index = link.index else { return }
    let packet = command.packet
    // Only initialised integers, which stay until the call returns.
    unsafe tap(packet.span.bytes, KernelClock.wall, false, index)
  }
}

extension ScanParameters {
  /// Full duty for ranging; 60 ms of every 240 ms for monitoring.
  static func forDemand(_ demand: ScanDemand) -> ScanParameters {
    ScanParameters(interval: demand == .ranging ? 96 : 384, window: 96)
  }
}

extension MonotonicTime {
  fileprivate static var max: MonotonicTime { MonotonicTime(nanoseconds: .max) }
}
