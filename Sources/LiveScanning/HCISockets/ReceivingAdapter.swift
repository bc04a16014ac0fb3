import Advertising
import Bytes
import Glibc
import HCIPackets
import Scanning

final class ReceivingAdapter {
  private(set) var target: AdapterTarget
  /// The excess of the adapter's measurements over the true signal strength, in dB.
  private var offset = 0.0
  var control = ScanControl()
  private var socket: HCISocket?
  private var clock = KernelClock(now: MonotonicTime.now, wall: WallClockTime.now)

  private let configuration: LiveScanner.Configuration
  private let system: HCISystem
  private let tap: OrderedTap?
  private var nextLook: MonotonicTime?
  private var hurriedLooks = 2
  private var power: PowerSwitch
  private var drops: UInt32 = 0
  private var latestDrop = MonotonicTime(nanoseconds: 0)
  private var gap = LongestGap(at: MonotonicTime.now)

  /// The interval of queries about the adapter, in nanoseconds.
  private static let lookInterval: Int64 = 250_000_000
  /// The interval without Bluetooth, and for a working adapter whose changes are reported.
  private static let seldomLookInterval: Int64 = 5_000_000_000

  init(
    _ name: AdapterName?, _ configuration: LiveScanner.Configuration, system: HCISystem,
    tap: OrderedTap?
  ) {
    target = AdapterTarget(name)
    self.configuration = configuration
    self.system = system
    self.tap = tap
    power = PowerSwitch(system.switchOn)
    control.silence.timeout = configuration.quietNanoseconds
  }

  /// Queries the adapter now and a little later, because something happens to it.
  func lookNow() {
    nextLook = nil
    hurriedLooks = 2
  }

  private func isCalm(_ isWatched: Bool) -> Bool {
    isWatched && socket != nil && hurriedLooks == 0
  }

  /// Returns when ``advance(_:sparing:isWatched:sockets:to:)`` next has something to do. A query
  /// about a calm adapter waits until it is called anyway.
  func nextDeadline(after now: MonotonicTime, isWatched: Bool) -> MonotonicTime? {
    let look = isCalm(isWatched) ? nil : nextLook ?? now
    let step = control.nextDeadline(after: now)
    return [look, step].compactMap(\.self).min()
  }

  /// Does what is due, and sends commands. `sockets` are those of this scanner.
  func advance(
    _ demand: ScanDemand, sparing others: Set<UInt16>, isWatched: Bool, sockets: () -> [Int32],
    to now: MonotonicTime
  ) {
    // Full duty for ranging; 60 ms of every 240 ms for monitoring.
    var parameters = ScanParameters(interval: demand == .ranging ? 96 : 384, window: 96)
    parameters.isActive = configuration.isActive
    parameters.usesCodedPHY = configuration.usesCodedPHY
    control.request(parameters, at: now)
    if now >= nextLook ?? now {
      nextLook = now.advanced(by: Self.lookInterval)
      look(at: now, sparing: others)
      hurriedLooks = max(0, hurriedLooks - 1)
      if isCalm(isWatched) { nextLook = now.advanced(by: Self.seldomLookInterval) }
      offset = configuration.offsets.last { target.matches($0.adapter) }?.decibels ?? 0
    }
    control.advance(to: now)
    if control.ownership.needsCensus {
      let isAlone = HCIPrograms.hasOnly(sockets(), in: system.socketList())
      control.setAlone(isAlone, at: now)
    }
    flush(at: now)
  }

  func rest(sockets: () -> [Int32]) {
    if control.phase == .shared, isLast(sockets) { control.ownership.adopt() }
    control.rest()
    flush(at: MonotonicTime.now)
    socket = nil
    control.close()
    control.state.restate()
    nextLook = nil
  }

  /// Returns whether no other program is there to end the scan that runs. Of two processes of ours
  /// that started and end it at once, the one with the longer pause is the last: pauses differ
  /// between neighboring process IDs.
  private func isLast(_ sockets: () -> [Int32]) -> Bool {
    if HCIPrograms.hasOnly(sockets(), in: system.socketList()) { return true }
    guard control.ownership.mayBeOurs else { return false }
    usleep(25_000 * UInt32(1 + getpid() % 8))
    return HCIPrograms.hasOnly(sockets(), in: system.socketList())
  }

  var availability: ScannerAvailability? {
    guard let condition = control.state.condition else { return nil }
    switch condition {
    case .blocked, .removed, .systemError, .notPermitted, .noBluetooth: break
    case .down where power.outcome == EPERM: break
    default: return .available
    }
    let sentence = HealthSentence.of(condition, adapter: target.title, detail: control.state.detail)
    return ScannerAvailability(fault: condition, sentence)
  }

  private func lost(since: MonotonicTime, at now: MonotonicTime) {
    socket = nil
    nextLook = now.advanced(by: Self.lookInterval)
    target.lost(at: now)
    control.closed(.removed, since: since)
    power.found()
  }

  private func look(at now: MonotonicTime, sparing others: Set<UInt16>) {
    let adapter: Adapter
    do throws(HCISocketError) {
      guard let found = try find(sparing: others) else { return lost(since: now, at: now) }
      adapter = found
    } catch {
      // A scan that runs needs no answer.
      return socket == nil ? failed(error, at: now) : ()
    }
    if socket != nil, !target.matches(adapter) {
      control.left()
      flush(at: now)
    }
    if target.found(adapter) { socket = nil }
    guard adapter.isUp else { return isDown(adapter, at: now) }
    if socket == nil { open(adapter.index, at: now) }
  }

  private func find(sparing others: Set<UInt16>) throws(HCISocketError) -> Adapter? {
    let all = try system.adapters(descriptor).filter { !others.contains($0.index) }
    return target.choose(among: all, isHeld: system.isHeld)
  }

  private func isDown(_ adapter: Adapter, at now: MonotonicTime) {
    socket = nil
    control.close()
    if let block = adapter.block {
      power.found()
      return control.state.report(.blocked, since: now, detail: block.detail)
    }
    let condition = control.state.condition
    let wasOn = condition.map { !$0.isFault || $0 == .stopped } ?? false
    // Somebody switched it off, perhaps for a reason.
    if wasOn { power.wasSwitchedOff(at: now) }
    if wasOn || condition == nil || control.state.isToBeRestated {
      control.state.report(.down, since: now)
    }
    power.tryNow(adapter.index, at: now)
    if let failure = power.outcome, failure != 0 {
      control.state.report(failure == ETIMEDOUT ? .notAnswering : .down, since: now)
    }
  }

  private func open(_ index: UInt16, at now: MonotonicTime) {
    do throws(HCISocketError) {
      socket = try system.open(index)
      drops = 0
      clock = KernelClock(now: now, wall: now.wallClockTime(KernelClock.currentOffset))
      gap = LongestGap(at: now)
      power.found()
      control.opened(at: now, inPlaceOf: target.replaced)
    } catch {
      failed(error, at: now)
    }
  }

  private func failed(_ error: HCISocketError, at now: MonotonicTime) {
    if error.condition == .noBluetooth {
      // A query may make the kernel search for a module each time.
      nextLook = now.advanced(by: Self.seldomLookInterval)
    }
    control.closed(error.condition, since: now, detail: "\(error)")
  }

  private func flush(at now: MonotonicTime) {
    let commands = control.queue.outgoing
    control.queue.outgoing = []
    for command in commands {
      guard socket != nil else { return }
      let sent = MonotonicTime.now
      do throws(HCISocketError) {
        try socket?.send(command)
      } catch {
        if error.condition == .notPermitted { return control.closed(.notPermitted, since: now) }
        nextLook = now
        return
      }
      guard let tap, let index = target.index else { continue }
      let packet = command.packet
      // Only initialized integers, which stay until the call returns.
      unsafe tap.add(packet.span.bytes, at: sent, isReceived: false, adapter: index)
    }
  }

  /// Counts the packets that the kernel dropped, after all pending ones were read. They are lost in
  /// the longest gap between packets. If this process did not run, such a gap is a loss by itself.
  private func checkReception(wasStopped: Bool, at now: MonotonicTime) {
    let drops = socket?.drops ?? 0
    let lost = Int64(drops) - Int64(self.drops)
    self.drops = drops
    gap.end(at: now)
    if lost > 0 ? gap.length >= Self.leastLoss : wasStopped && gap.length >= Self.longestPause {
      latestDrop = now
      control.receptionLost(
        from: gap.from, to: gap.to,
        detail: lost > 0
          ? "\(lost) packets lost" : "it did not run for \(gap.length / 1_000_000_000) s")
    } else if lost > 0 {
      latestDrop = now
      if control.state.condition == .scanning {
        control.state.report(.lossy, since: now, detail: "\(lost) packets lost")
      }
    } else if control.state.condition == .lossy, now >= latestDrop.advanced(by: 5_000_000_000) {
      control.reportReceiving(since: now)
    }
    gap = LongestGap(at: now)
  }

  /// The shortest gap that can hold lost packets, and the longest delay of reading, in nanoseconds.
  private static let leastLoss: Int64 = 250_000_000
  static let longestPause = MonotonicTime.nanosecondsPerSecond

  /// The maximum number of calls in one reading, 2,048 packets, so that other adapters get a turn.
  private static let maximumCalls = 32

  /// Reads the pending packets; returns the time up to which everything has been read.
  func read(
    _ buffer: inout MessageBuffer, into collector: inout SightingCollector, at now: MonotonicTime,
    wasStopped: Bool
  ) -> MonotonicTime {
    guard let index = target.index, let descriptor else { return now }
    let before = collector.counts.reports
    clock.read(at: now, wall: now.wallClockTime(KernelClock.currentOffset))
    collector.adapter = index
    var isGone = false
    var mayHaveMore = true
    var calls = 0
    while mayHaveMore, calls < Self.maximumCalls {
      do throws(HCISocketError) {
        mayHaveMore = try buffer.receive(from: descriptor, adapter: index)
      } catch {
        // The kernel reports this once; packets in its queue can still be read.
        if isGone { break }
        isGone = true
      }
      for packet in 0..<buffer.count { handle(packet, of: buffer, &collector, now) }
      calls += 1
    }
    if isGone {
      lost(since: gap.latest, at: now)
      return now
    }
    if !mayHaveMore {
      clock.emptied()
      checkReception(wasStopped: wasStopped, at: now)
    }
    if collector.counts.reports > before { control.received(at: now) }
    return mayHaveMore ? collector.time : now
  }

  private func handle(
    _ number: Int, of buffer: borrowing MessageBuffer, _ collector: inout SightingCollector,
    _ now: MonotonicTime
  ) {
    let bytes = buffer.packet(number)
    let isReceived = buffer.isReceived(number)
    let stamp = buffer.stamp(number) ?? now.wallClockTime(clock.wallClockOffset)
    collector.counts.packets &+= 1
    collector.time = clock.moment(of: stamp)
    collector.wallTime = stamp
    gap.end(at: collector.time)
    if let tap, let index = target.index {
      tap.add(bytes, at: collector.time, isReceived: isReceived, adapter: index)
    }
    guard bytes.byteCount >= 3 else { return }
    switch bytes.littleEndian(UInt8.self, at: 0) {
    case 0x04: handle(event: bytes, &collector, now)
    case 0x01 where !isReceived:
      if let command = try? HCICommand(bytes, at: 1) {
        control.queue.sent(byOther: command, at: now)
      }
    default: break
    }
  }

  private func handle(
    event bytes: RawSpan, _ collector: inout SightingCollector, _ now: MonotonicTime
  ) {
    switch bytes.littleEndian(UInt8.self, at: 1) {
    case 0x3E:
      // LE Scan Timeout (§7.7.65.17): another program's scan had a duration.
      if bytes.byteCount > 3, bytes.littleEndian(UInt8.self, at: 3) == 0x11 {
        return control.scanEnded(at: now)
      }
      let first = collector.sightings.count
      collector.receive(event: bytes, at: 1)
      if control.proof.mayBeFiltered { findRepeats(in: bytes, at: collector.time) }
      if offset != 0 {
        for index in first..<collector.sightings.count {
          collector.sightings[index].subtract(offset: offset)
        }
      }
    case 0x0E, 0x0F:
      guard let result = CommandResult(bytes, at: 1) else { return }
      control.answered(result, received: collector.time, at: now)
    case 0x10 where bytes.byteCount > 3:
      control.hardwareError(bytes.littleEndian(UInt8.self, at: 3), at: now)
    default: break
    }
  }

  private func findRepeats(in bytes: RawSpan, at time: MonotonicTime) {
    guard var event = AdvertisingEvent(bytes, at: 1) else { return }
    if event.isExtended {
      while let fragment = try? event.nextFragment() {
        if fragment.isWhole { control.received(report: Self.hash(fragment.report), at: time) }
      }
    } else {
      while let report = try? event.nextReport() {
        control.received(report: Self.hash(report), at: time)
      }
    }
  }

  private static func hash(_ report: borrowing AdvertisingReport) -> Int {
    var hasher = Hasher()
    hasher.combine(report.address)
    hasher.combine(report.eventType.rawValue)
    // The memory is used only during the call.
    unsafe report.data.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    return hasher.finalize()
  }

  var descriptor: Int32? { socket?.descriptor }

  /// The descriptor to poll; -1, which the system ignores, while the socket is closed.
  var polled: pollfd { pollfd(fd: descriptor ?? -1, events: Int16(POLLIN), revents: 0) }
}

/// The longest time without a packet since all pending packets were read.
struct LongestGap: Sendable {
  private(set) var from, to: MonotonicTime
  /// The time of the last packet, or at which all had been read.
  private(set) var latest: MonotonicTime

  init(at time: MonotonicTime) {
    from = time
    to = time
    latest = time
  }

  var length: Int64 { to.nanoseconds(since: from) }

  /// Records a packet, or the end. Time does not go back.
  mutating func end(at time: MonotonicTime) {
    if time.nanoseconds(since: latest) > length {
      from = latest
      to = time
    }
    latest = max(latest, time)
  }
}
