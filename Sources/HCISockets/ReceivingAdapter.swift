import Adapters
import Glibc
import HCIPackets
import Scanning

/// One adapter that receives: finds it, opens its socket, and keeps it scanning.
final class ReceivingAdapter {
  /// The adapter that serves the requested name.
  private(set) var target: AdapterTarget
  /// How much stronger than true the adapter measures, in dB.
  private(set) var offset = 0.0
  /// The scan and the receiver state.
  private(set) var control = ScanControl()
  var socket: HCISocket?
  var clock = KernelClock(now: KernelClock.monotonic, wall: KernelClock.wall)

  private let system: HCISystem
  private var nextLook: MonotonicTime?
  private var power: PowerSwitch
  private var drops: UInt32 = 0
  private var nextDropLook: MonotonicTime?
  private var latestDrop = MonotonicTime(nanoseconds: 0)
  private var goneSince: MonotonicTime?

  /// How often the system is asked about the adapter, in nanoseconds.
  private static let lookInterval: Int64 = 250_000_000
  /// How often that is where there is no Bluetooth at all.
  private static let seldomLookInterval: Int64 = 5_000_000_000
  /// After how long another adapter replaces one that is gone, where any will do.
  private static let patience: Int64 = 5_000_000_000

  /// - Parameters:
  ///   - name: The adapter's name; `nil` for the first that can be used.
  ///   - quietTimeout: After so many nanoseconds without any advert the state is quiet.
  ///   - system: The host.
  init(_ name: AdapterName?, quietTimeout: Int64, system: HCISystem) {
    target = AdapterTarget(name)
    self.system = system
    power = PowerSwitch(system.switchOn)
    control.quietTimeout = quietTimeout
  }

  /// Does what is due, and sends what is to be sent.
  ///
  /// - Parameters:
  ///   - parameters: How to scan.
  ///   - offsets: How much stronger than true adapters measure, in dB.
  ///   - others: The adapters that serve other names.
  ///   - sockets: Returns all sockets of this scanner, which are no other program's.
  ///   - now: The time.
  ///   - sent: Is given each command that was sent.
  func advance(
    _ parameters: ScanParameters, offsets: [(adapter: AdapterName, decibels: Double)],
    sparing others: Set<UInt16>, sockets: () -> [Int32], to now: MonotonicTime,
    sent: (HCICommand) -> Void
  ) {
    control.request(parameters, at: now)
    if now >= nextLook ?? now {
      nextLook = now.advanced(by: Self.lookInterval)
      look(at: now, sparing: others)
      offset = offsets.last { target.matches($0.adapter) }?.decibels ?? 0
    }
    control.advance(to: now)
    if control.needsCensus {
      let isAlone = HCIPrograms.hasOnly(sockets(), in: system.socketList())
      control.setAlone(isAlone, at: now)
    }
    flush(at: now, sent: sent)
    countDrops(at: now)
  }

  /// Switches the scan off and closes the socket, as there is no demand.
  func rest(sent: (HCICommand) -> Void) {
    control.rest()
    flush(at: KernelClock.monotonic, sent: sent)
    socket = nil
    control.phase = .unusable
    nextLook = nil
  }

  /// Returns the changes of the receiver state since the last call.
  func removeChanges() -> [ScanControl.Change] {
    defer { control.changes.removeAll() }
    return control.changes
  }

  /// Whether the adapter can be used, as far as its state shows; `nil` before any is known.
  var availability: ScannerAvailability? {
    guard let condition = control.condition else { return nil }
    let isUsable =
      switch condition {
      case .blocked, .removed, .systemError, .notPermitted, .noBluetooth: false
      case .down: power.outcome != EPERM
      default: true
      }
    if isUsable { return .available }
    let sentence = HealthSentence.of(condition, adapter: target.title, detail: control.detail)
    return condition == .notPermitted ? .notPermitted(sentence) : .unavailable(sentence)
  }

  /// Whether the adapter is switched off.
  var isDown: Bool { control.condition == .down }

  /// Hands what was received to the state machine.
  func change(_ body: (inout ScanControl) -> Void) { body(&control) }

  /// Records that the adapter is gone.
  func lost(at now: MonotonicTime) {
    socket = nil
    nextLook = now.advanced(by: Self.lookInterval)
    let gone = goneSince ?? now
    goneSince = gone
    if now.nanoseconds(since: gone) >= Self.patience { target.forget() }
    control.closed(.removed, since: now)
    power.found()
  }

  /// Asks the system about the adapter.
  private func look(at now: MonotonicTime, sparing others: Set<UInt16>) {
    let adapter: Adapter
    do throws(HCISocketError) {
      guard let found = try find(sparing: others) else { return lost(at: now) }
      adapter = found
    } catch {
      // A scan that runs needs no answer.
      return socket == nil ? failed(error, at: now) : ()
    }
    goneSince = nil
    if target.found(adapter) { socket = nil }
    guard adapter.isUp else { return isDown(adapter, at: now) }
    if socket == nil { open(adapter.index, at: now) }
  }

  /// Returns the adapter that serves the requested name.
  private func find(sparing others: Set<UInt16>) throws(HCISocketError) -> Adapter? {
    // The usual case: it is still where it was.
    if let index = target.index, !others.contains(index),
      let same = try system.adapter(index, descriptor), target.matches(same)
    {
      return same
    }
    let all = try system.adapters(descriptor).filter { !others.contains($0.index) }
    return target.choose(among: all, isHeld: system.isHeld)
  }

  private func isDown(_ adapter: Adapter, at now: MonotonicTime) {
    socket = nil
    control.close()
    if let block = adapter.block {
      power.found()
      return control.report(.blocked, since: now, detail: block.detail)
    }
    if let condition = control.condition, !condition.isFault || condition == .stopped {
      // Somebody switched it off, and may have a reason.
      power.wasSwitchedOff(at: now)
      control.report(.down, since: now)
    } else if control.condition == nil {
      control.report(.down, since: now)
    }
    power.tryNow(adapter.index, at: now)
    switch power.outcome {
    case nil, 0: break
    case ETIMEDOUT: control.report(.notAnswering, since: now)
    default: control.report(.down, since: now)
    }
  }

  private func open(_ index: UInt16, at now: MonotonicTime) {
    do throws(HCISocketError) {
      socket = try system.open(index)
      drops = 0
      clock = KernelClock(now: now, wall: KernelClock.wall)
      power.found()
      control.opened(at: now)
    } catch {
      failed(error, at: now)
    }
  }

  /// Records that the adapter cannot be used, as the system refused a call.
  private func failed(_ error: HCISocketError, at now: MonotonicTime) {
    if error.condition == .noBluetooth {
      // To ask may have the kernel look for a module each time.
      nextLook = now.advanced(by: Self.seldomLookInterval)
    }
    control.closed(error.condition, since: now, detail: "\(error)")
  }

  private func flush(at now: MonotonicTime, sent: (HCICommand) -> Void) {
    let commands = control.commands
    control.commands.removeAll()
    for command in commands {
      guard socket != nil else { return }
      do throws(HCISocketError) {
        try send(command)
        sent(command)
      } catch {
        switch error.condition {
        case .notPermitted: control.closed(.notPermitted, since: now)
        // The next look shows what happened.
        default: nextLook = now
        }
        return
      }
    }
  }

  private func send(_ command: HCICommand) throws(HCISocketError) {
    switch socket {
    case .some(let socket): try socket.send(command)
    case .none: break
    }
  }

  private func countDrops(at now: MonotonicTime) {
    guard socket != nil, now >= nextDropLook ?? now else { return }
    nextDropLook = now.advanced(by: 1_000_000_000)
    let drops = socket?.drops ?? 0
    if drops > self.drops, control.condition == .scanning {
      control.report(.lossy, since: now, detail: "\(drops - self.drops) packets lost")
    }
    if drops > self.drops { latestDrop = now }
    self.drops = drops
    if control.condition == .lossy, now >= latestDrop.advanced(by: 5_000_000_000) {
      control.reportScanning(since: now)
    }
  }
}
