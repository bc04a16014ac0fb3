import Glibc
package import Scanning

package struct ReceivingState: ~Copyable, SourceSession {
  package var counts: ScanCounts { collector.counts }
  package private(set) var availability: ScannerAvailability?

  private var collector = SightingCollector()
  private let configuration: LiveScanner.Configuration
  private let system: HCISystem
  private let tap: OrderedTap?
  private var links: [ReceivingAdapter] = []
  private var buffer = MessageBuffer()
  private var polled: [pollfd] = []
  private var began: MonotonicTime?
  private var reached: MonotonicTime?
  private var latestRead = MonotonicTime(nanoseconds: 0)
  private var latestReport = MonotonicTime(nanoseconds: 0)
  /// The time by which the sockets must be read; `nil` at rest.
  private var nextRead: MonotonicTime?
  /// A socket that can be read when an adapter comes, goes, or is switched on or off.
  private var watch: HCISocket?
  private var latestDemand = ScanDemand.none
  private var missing: ScannerHealth.Condition?
  private var nextCount: MonotonicTime?
  /// The sightings of one adapter after the time up to which another one has been read.
  private var early: [Sighting] = []

  /// The nanoseconds in which reports are gathered, so that one system call reads many.
  private static let gathering: Int64 = 10_000_000
  /// The longest waits in nanoseconds; the longer one applies after a time without adverts.
  private static let longestWait: Int64 = 250_000_000
  private static let longestQuietWait: Int64 = 4_000_000_000
  private static let quietBegins: Int64 = 2_000_000_000
  private static let shortestWait: Int64 = 10_000_000

  init(_ configuration: LiveScanner.Configuration, system: HCISystem) {
    self.configuration = configuration
    self.system = system
    tap = configuration.packetTap.map { OrderedTap($0) }
    collector.reportTap = configuration.reportTap
    for name in configuration.adapters.targets { add(name) }
  }

  private mutating func add(_ name: AdapterName?) {
    links.append(ReceivingAdapter(name, configuration, system: system, tap: tap))
  }

  package mutating func receive(
    for demand: ScanDemand, until deadline: MonotonicTime?, wakeSignal: borrowing WakeSignal,
    into sightings: inout [Sighting]
  ) -> ScanProgress {
    let start = MonotonicTime.now
    let began = self.began ?? start
    self.began = began
    if watch == nil { watch = system.watch() }
    findMore(at: start)
    // Before the scan changes, because pending packets may show another owner; and before time
    // advances over a pause of this process, because they show what happened meanwhile.
    if demand != latestDemand || wasStopped(at: start) { drain(at: start) }
    latestDemand = demand
    advance(demand, to: start)
    wait(until: deadline, wakeSignal: wakeSignal, from: start)
    let now = MonotonicTime.now
    let (packets, reports) = (collector.counts.packets, collector.counts.reports)
    read(at: now, into: &sightings)
    if collector.counts.reports != reports { latestReport = now }
    advance(demand, to: now)
    if collector.counts.packets != packets { latestRead = now }
    let health = removeHealth()
    updateAvailability(after: health)
    return ScanProgress(
      began: began, reached: reached,
      wallClockOffset: KernelClock.currentOffset, health: health)
  }

  package mutating func rest() {
    drain(at: MonotonicTime.now)
    nextRead = nil
    // A process of ours that ends now then finds no other socket than its own.
    watch = nil
    early = []
    latestDemand = .none
    availability = nil
    missing = nil
    let links = links
    for link in links { link.rest { links.compactMap(\.descriptor) } }
    tap?.handOver()
  }

  private mutating func findMore(at now: MonotonicTime) {
    guard configuration.adapters == .all, now >= nextCount ?? now else { return }
    nextCount = now.advanced(by: MonotonicTime.nanosecondsPerSecond)
    for adapter in (try? system.adapters(links.lazy.compactMap(\.descriptor).first)) ?? []
    where !links.contains(where: { $0.target.matches(adapter) }) {
      add(adapter.address.map { .address($0) } ?? .number(adapter.index))
    }
  }

  private mutating func advance(_ demand: ScanDemand, to now: MonotonicTime) {
    let links = links
    let watched = watch?.descriptor
    for link in links {
      let others = links.filter { $0 !== link && $0.descriptor != nil }.compactMap(\.target.index)
      link.advance(
        demand, sparing: Set(others), isWatched: watched != nil,
        sockets: { (links.map(\.descriptor) + [watched]).compactMap(\.self) }, to: now)
    }
  }

  private func wasStopped(at now: MonotonicTime) -> Bool {
    nextRead.map { now.nanoseconds(since: $0) >= ReceivingAdapter.longestPause } ?? false
  }

  private func longestWait(at now: MonotonicTime, canBeWoken: Bool) -> Int64 {
    if !canBeWoken { return HCIScanner.maximumReceiveTime }
    let isQuiet = now.nanoseconds(since: latestReport) >= Self.quietBegins && !links.isEmpty
    return isQuiet ? Self.longestQuietWait : Self.longestWait
  }

  private mutating func wait(
    until deadline: MonotonicTime?, wakeSignal: borrowing WakeSignal, from start: MonotonicTime
  ) {
    let longest = longestWait(at: start, canBeWoken: wakeSignal.descriptor >= 0)
    let latestEnd = start.advanced(by: longest)
    var end = min(deadline ?? latestEnd, latestEnd)
    let soonest = start.advanced(by: Self.shortestWait)
    polled.removeAll(keepingCapacity: true)
    for link in links {
      polled.append(link.polled)
      if let moment = link.nextDeadline(after: start, isWatched: watch != nil) {
        end = min(end, max(moment, soonest))
      }
    }
    let watched = watch?.descriptor ?? -1
    for descriptor in [wakeSignal.descriptor, watched] {
      polled.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
    }
    nextRead = max(end, start)
    let left = max(0, end.nanoseconds(since: start))
    // Rounded up, so that the due time is over. The array's memory is used only during the call.
    unsafe poll(&polled, nfds_t(polled.count), Int32((left + 999_999) / 1_000_000))
    if polled[polled.count - 2].revents != 0 { wakeSignal.reset() }
    if polled[polled.count - 1].revents != 0 { hostChanged() }
    let now = MonotonicTime.now
    let since = now.nanoseconds(since: latestRead)
    let gather = min(Self.gathering - since, end.nanoseconds(since: now))
    if gather > 0 { usleep(UInt32(gather / 1000)) }
  }

  private mutating func hostChanged() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while let count = try? watch?.read(into: &bytes), count > 0 {}
    nextCount = nil
    for link in links { link.lookNow() }
  }

  private mutating func read(at now: MonotonicTime, into sightings: inout [Sighting]) {
    let wasStopped = wasStopped(at: now)
    nextRead = now
    collector.removeSightings()
    collector.sightings += early
    early.removeAll(keepingCapacity: true)
    var all = now
    for link in links {
      all = min(all, link.read(&buffer, into: &collector, at: now, wasStopped: wasStopped))
    }
    swap(&collector.sightings, &sightings)
    tap?.handOver(until: all)
    reached = max(all, reached ?? all)
    guard links.count > 1 else { return }
    sightings.sort { $0.time < $1.time }
    while let last = sightings.last, last.time > all { early.append(sightings.removeLast()) }
  }

  /// Reads the pending packets without waiting; the next call delivers their sightings.
  private mutating func drain(at now: MonotonicTime) {
    var sightings: [Sighting] = []
    read(at: now, into: &sightings)
    early = sightings + early
  }

  /// Returns the changes since the last call, from the view of the whole scanner.
  private mutating func removeHealth() -> [ScannerHealth] {
    var health: [ScannerHealth] = []
    if links.isEmpty { health += reportMissing() }
    for link in links {
      for change in link.control.state.removeChanges() {
        let isReceptionLost = links.allSatisfy {
          $0 === link ? change.isReceptionLost : $0.control.state.isReceptionLost
        }
        health.append(
          ScannerHealth(
            change.condition, at: max(change.time, began ?? change.time),
            adapter: link.target.hostName, address: link.target.address,
            isReceptionLost: isReceptionLost,
            sentence: HealthSentence.of(
              change.condition, adapter: link.target.title, detail: change.detail)))
      }
    }
    return health
  }

  private mutating func reportMissing() -> [ScannerHealth] {
    var condition = ScannerHealth.Condition.removed
    var sentence = configuration.adapters.absence(among: [])
    do throws(HCISocketError) {
      _ = try system.adapters(nil)
    } catch {
      condition = error.condition
      sentence = HealthSentence.of(condition, adapter: "Bluetooth", detail: "\(error)")
    }
    guard condition != missing else { return [] }
    missing = condition
    availability = .unavailable(sentence)
    return [
      ScannerHealth(
        condition, at: MonotonicTime.now, adapter: nil, isReceptionLost: true,
        sentence: sentence)
    ]
  }

  private mutating func updateAvailability(after health: [ScannerHealth]) {
    // The right to switch on an adapter that is down can change without a report.
    let isDown = links.contains { $0.control.state.condition == .down }
    guard !health.isEmpty || availability == nil || isDown, !links.isEmpty else { return }
    let all = links.map(\.availability)
    // One working adapter is enough; an adapter whose state is unknown allows no conclusion.
    availability =
      all.contains(.available) ? .available : all.contains(nil) ? nil : all.first ?? nil
  }
}
