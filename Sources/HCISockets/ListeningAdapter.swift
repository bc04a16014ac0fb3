import Advertising
import Glibc
import HCIPackets
import Scanning

/// One adapter that is listened to: finds it, opens its socket, and keeps it scanning.
final class ListeningAdapter {
  /// How it is meant; `nil` for the first that can be used.
  let name: AdapterName?
  /// How much stronger than true it hears, in dB.
  private(set) var offset = 0.0
  /// How well it hears, and what changed in that.
  private(set) var control = ScanControl()
  /// Where it is on the host; the latest place while it is gone.
  private(set) var index: UInt16?
  /// What it is found by when it comes back.
  private(set) var address: BluetoothAddress?
  var socket: HCISocket?
  var clock = KernelClock(now: KernelClock.monotonic, wall: KernelClock.wall)

  private var nextLook: MonotonicTime?
  private var switchOn = PowerSwitch()
  private var drops: UInt32 = 0
  private var nextDropLook: MonotonicTime?
  private var latestDrop = MonotonicTime(nanoseconds: 0)
  private var goneSince: MonotonicTime?

  /// How often the system is asked how the adapter is.
  private static let lookInterval: Int64 = 250_000_000
  /// How often that is where there is no Bluetooth at all.
  private static let seldomLookInterval: Int64 = 5_000_000_000
  /// After how long another adapter is taken for one that is gone, where any will do.
  private static let patience: Int64 = 5_000_000_000

  init(_ name: AdapterName?, quietLimit: Int64) {
    self.name = name
    if case .address(let address) = name { self.address = address }
    control.quietLimit = quietLimit
  }

  /// Its name on the host, as far as it is known.
  var hostName: String? {
    if let index { return "hci\(index)" }
    if case .number(let number) = name { return "hci\(number)" }
    return nil
  }

  /// What a person calls it.
  var title: String { hostName ?? name?.description ?? "the adapter" }

  /// Whether it is for an adapter.
  func means(_ adapter: Adapter) -> Bool {
    if let address, let theirs = adapter.address { return address == theirs }
    return adapter.index == index || name?.means(adapter) ?? false
  }

  private func means(_ name: AdapterName) -> Bool {
    switch name {
    case .number(let number): number == index
    case .address(let address): address == self.address
    }
  }

  /// Does what is due, and sends what is to be sent.
  func tend(
    _ parameters: ScanParameters, offsets: [(adapter: AdapterName, decibels: Double)],
    sparing others: Set<UInt16>, at now: MonotonicTime, sent: (HCICommand) -> Void
  ) {
    control.listen(parameters, at: now)
    if now >= nextLook ?? now {
      nextLook = now.advanced(by: Self.lookInterval)
      look(at: now, sparing: others)
      offset = offsets.last { means($0.adapter) }?.decibels ?? 0
    }
    control.advance(to: now)
    if control.asksForCensus {
      let isAlone = SocketCensus.isAlone(but: descriptor.map { [$0] } ?? [])
      control.isAlone(isAlone, at: now)
    }
    flush(at: now, sent: sent)
    countDrops(at: now)
  }

  /// Nobody listens: the scan goes off, and the socket is closed.
  func rest(sent: (HCICommand) -> Void) {
    control.rest()
    flush(at: KernelClock.monotonic, sent: sent)
    socket = nil
    control.phase = .unusable
    nextLook = nil
  }

  /// Takes what changed in how well it hears.
  func takeChanges() -> [ScanControl.Change] {
    defer { control.changes.removeAll() }
    return control.changes
  }

  /// Hands what was received to the state machine.
  func change(_ body: (inout ScanControl) -> Void) { body(&control) }

  /// The adapter's socket said that it is gone.
  func lost(at now: MonotonicTime) {
    socket = nil
    nextLook = now.advanced(by: Self.lookInterval)
    let gone = goneSince ?? now
    goneSince = gone
    if name == nil, now.nanoseconds(since: gone) >= Self.patience {
      (index, address) = (nil, nil)
    }
    control.closed(.removed, since: now)
    switchOn.found()
  }

  /// Asks the system how the adapter is.
  private func look(at now: MonotonicTime, sparing others: Set<UInt16>) {
    let adapter: Adapter
    do throws(HCISocketError) {
      guard let found = try find(sparing: others) else { return lost(at: now) }
      adapter = found
    } catch {
      socket = nil
      // To ask may have the kernel look for a module each time.
      nextLook = now.advanced(by: Self.seldomLookInterval)
      return control.closed(.noBluetooth, since: now, detail: "\(error)")
    }
    goneSince = nil
    if adapter.index != index { socket = nil }
    index = adapter.index
    address = adapter.address ?? address
    guard adapter.isUp else { return isDown(adapter, at: now) }
    if socket == nil { open(adapter.index, at: now) }
  }

  /// The adapter that is meant: once it was seen, the one with its address.
  private func find(sparing others: Set<UInt16>) throws(HCISocketError) -> Adapter? {
    // The usual case: it is still where it was.
    if let index, !others.contains(index), let same = Adapter(index: index),
      same.address == address || address == nil
    {
      return same
    }
    let all = try Adapter.all().filter { !others.contains($0.index) }
    if let address { return all.first { $0.address == address } }
    if let name { return all.first(where: name.means) }
    return Adapter.best(of: all)
  }

  private func isDown(_ adapter: Adapter, at now: MonotonicTime) {
    socket = nil
    control.close()
    if let block = adapter.block {
      switchOn.found()
      return control.note(
        .blocked, since: now, detail: block == .hard ? "a switch or key of this machine" : nil)
    }
    if let condition = control.condition, !condition.isFault || condition == .stopped {
      // Somebody switched it off, and may have a reason.
      switchOn.wasSwitchedOff(at: now)
      control.note(.down, since: now)
    } else if control.condition == nil {
      control.note(.down, since: now)
    }
    switchOn.tryNow(adapter.index, at: now)
    switch switchOn.outcome {
    case nil, 0: break
    case ETIMEDOUT: control.note(.notAnswering, since: now)
    default: control.note(.down, since: now)
    }
  }

  private func open(_ index: UInt16, at now: MonotonicTime) {
    do throws(HCISocketError) {
      let socket = try HCISocket.bound(to: index)
      guard try socket.filterForScanning() else {
        return control.closed(.notPermitted, since: now)
      }
      self.socket = consume socket
      drops = 0
      clock = KernelClock(now: now, wall: KernelClock.wall)
      switchOn.found()
      control.opened(at: now)
    } catch {
      control.closed(
        error.errno == EPERM || error.errno == EACCES ? .notPermitted : .down, since: now,
        detail: "\(error)")
    }
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
        switch error.errno {
        case EPERM, EACCES: control.closed(.notPermitted, since: now)
        // What it is will be seen at once.
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
      control.note(.lossy, since: now, detail: "\(drops - self.drops) packets lost")
    }
    if drops > self.drops { latestDrop = now }
    self.drops = drops
    if control.condition == .lossy, now >= latestDrop.advanced(by: 5_000_000_000) {
      control.noteScanning(since: now)
    }
  }
}
