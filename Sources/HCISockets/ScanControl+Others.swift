import HCIPackets
import Scanning

/// What other programs, and the kernel itself, do with the controller.
extension ScanControl {
  /// Another program sent a command.
  mutating func sent(byOther command: HCICommand, at now: MonotonicTime) {
    switch command.opcode {
    case .reset, .setScanEnable, .setExtendedScanEnable:
      if foreign.count == 16 { foreign.removeFirst() }
      foreign.append((command, now))
    default: break
    }
  }

  /// A command of another program was carried out.
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
      // Of who was heard once, silence says nothing any more.
      note(
        .takenOver, since: now, detail: filters ? "each advert is reported once" : nil,
        isReceptionLost: filters)
    } else {
      note(.shared, since: now)
    }
  }

  private var isWaiting: Bool {
    if case .waiting = phase { true } else { false }
  }

  /// The scan is off, and it was not us. Whoever did it may be about to start another: a little later it is
  /// started again.
  mutating func scanEnded(at now: MonotonicTime) {
    let wasOurs = isOurs
    isOurs = false
    guard wanted != nil, phase != .unusable else { return }
    // The answer to a command of before does not come, or means nothing any more.
    if pending?.command.opcode == commandSet?.enableOpcode { pending = nil }
    wait(Self.grace, from: now)
    if wasOurs, condition == .scanning { note(.stopped, since: now) }
  }

  /// The controller told of a fault; the kernel resets it.
  mutating func hardwareError(_ code: UInt8, at now: MonotonicTime) {
    isOurs = false
    pending = nil
    commandSet = nil
    let digits = String(code, radix: 16, uppercase: true)
    note(.hardwareError, since: now, detail: "code 0x\(code < 16 ? "0" : "")\(digits)")
    if wanted != nil { wait(Self.grace, from: now) }
  }

  /// Any advert was reported.
  mutating func heard(at now: MonotonicTime) {
    latestReport = now
    quietRetry.reset()
    nextQuietRetry = nil
    if condition == .quiet {
      phase == .scanning ? noteScanning(since: now) : note(.shared, since: now)
    } else if condition == .notAnswering, isReceptionLost {
      note(.notAnswering, since: now, isReceptionLost: false)
    }
  }
}
