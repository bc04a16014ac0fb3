import HCIPackets
import Scanning

/// What other programs, and the kernel itself, do with the controller.
extension ScanControl {
  /// Records a command that another program sent.
  mutating func sent(byOther command: HCICommand, at now: MonotonicTime) {
    switch command.opcode {
    case .reset, .setScanEnable, .setExtendedScanEnable:
      if foreign.count == 16 { foreign.removeFirst() }
      foreign.append((command, now))
    default: break
    }
  }

  /// Handles that the controller did what another program commanded.
  mutating func done(byOther command: HCICommand, at now: MonotonicTime) {
    let isOn = command.opcode != .reset && command.parameters.first == 1
    guard isOn else { return scanEnded(at: now) }
    let wasOurs = isOurs || phase == .starting || isWaiting
    isOurs = false
    guard wanted != nil else { return }
    queue = []
    phase = .shared
    let filters = command.parameters.count > 1 && command.parameters[1] != 0
    if filters || wasOurs || condition == .takenOver {
      // The absence of an advert that was reported once means nothing any more.
      report(
        .takenOver, since: now, detail: filters ? "each advert is reported once" : nil,
        isReceptionLost: filters)
    } else {
      report(.shared, since: now)
    }
  }

  private var isWaiting: Bool {
    if case .waiting = phase { true } else { false }
  }

  /// Handles that another program switched the scan off. That program may be about to start its own: a little
  /// later the scan is started again.
  mutating func scanEnded(at now: MonotonicTime) {
    let wasOurs = isOurs
    isOurs = false
    guard wanted != nil, phase != .unusable else { return }
    // The answer to a command of before does not come, or means nothing any more.
    if pending?.command.opcode == commandSet?.enableOpcode { pending = nil }
    wait(Self.grace, from: now)
    if wasOurs, condition == .scanning { report(.stopped, since: now) }
  }

  /// Handles that the controller reported a fault; the kernel resets it.
  mutating func hardwareError(_ code: UInt8, at now: MonotonicTime) {
    isOurs = false
    pending = nil
    commandSet = nil
    let digits = String(code, radix: 16, uppercase: true)
    report(.hardwareError, since: now, detail: "code 0x\(code < 16 ? "0" : "")\(digits)")
    if wanted != nil { wait(Self.grace, from: now) }
  }

  /// Records that an advert of any kind was reported.
  mutating func received(at now: MonotonicTime) {
    latestReport = now
    quietRetry.reset()
    nextQuietRetry = nil
    if condition == .quiet {
      phase == .scanning ? reportScanning(since: now) : report(.shared, since: now)
    } else if condition == .notAnswering, isReceptionLost {
      report(.notAnswering, since: now, isReceptionLost: false)
    }
  }
}
