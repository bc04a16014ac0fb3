import Bytes
import HCIPackets
import Scanning

/// What the controller answers.
extension ScanControl {
  /// Handles an answer to a command of ours or of another program, read now and received by the kernel before.
  mutating func answered(
    _ result: borrowing CommandResult, received: MonotonicTime? = nil, at now: MonotonicTime
  ) {
    // Of two equal commands, the one that was seen first is answered first.
    foreign.removeAll { $0.sent < now.advanced(by: -Self.commandLife) }
    let isForeign = foreign.contains { $0.command.opcode == result.opcode }
    if let pending, pending.command.opcode == result.opcode,
      !isForeign || pending.sent < now.advanced(by: -Self.answerLimit)
    {
      self.pending = nil
      latestAnswer = now
      handle(result, to: pending.command, received: received ?? now, at: now)
      sendNext(at: now)
    } else if let index = foreign.firstIndex(where: { $0.command.opcode == result.opcode }) {
      let command = foreign.remove(at: index).command
      if result.status == 0 { done(byOther: command, at: now) }
    }
    if condition == .notAnswering, phase != .starting { restartAfterSilence(at: now) }
  }

  private mutating func handle(
    _ result: borrowing CommandResult, to command: HCICommand, received: MonotonicTime,
    at now: MonotonicTime
  ) {
    switch command.opcode {
    case .readLocalSupportedCommands:
      let bytes = (0..<result.parameters.byteCount).map { index in
        result.parameters.littleEndian(UInt8.self, at: index)
      }
      commandSet = ScanCommandSet(supportedCommands: result.status == 0 ? bytes : [])
    case .readLocalLEFeatures:
      // LE Coded PHY is bit 11 (Vol 6, Part B, §4.6).
      supportsCodedPHY =
        result.status == 0 && result.parameters.byteCount > 1
        && result.parameters.littleEndian(UInt8.self, at: 1) & 0x08 != 0
      if phase == .starting { start(at: now) }
    case commandSet?.parametersOpcode:
      handleParameters(result.status, received: received, at: now)
    case commandSet?.enableOpcode:
      handleEnable(
        result.status, isOn: command.parameters.first == 1, received: received, at: now)
    default: break
    }
  }

  private mutating func handleParameters(
    _ status: UInt8, received: MonotonicTime, at now: MonotonicTime
  ) {
    if phase == .shared, status == 0, let commandSet {
      phase = .starting
      queue = [commandSet.enable(true)]
    }
    guard phase == .starting, status != 0 else { return }
    if status == CommandResult.commandDisallowed {
      share(since: received)
    } else if status == CommandResult.unknownCommand, commandSet == .extended {
      commandSet = .legacy
      start(at: now)
    } else {
      refuse(status, at: now)
    }
  }

  private mutating func handleEnable(
    _ status: UInt8, isOn: Bool, received: MonotonicTime, at now: MonotonicTime
  ) {
    guard phase == .starting else { return }
    guard isOn else {
      // Off already, if it would not: nothing of ours runs.
      isOurs = false
      return
    }
    if status == 0 {
      isOurs = true
      phase = .scanning
      retry.reset()
      takeovers = 0
      began = received
      latestReport = nil
      // Whether it receives anything now will be seen. What was read with the answer came after it.
      if condition != .quiet { reportScanning(since: received) }
    } else if status == CommandResult.commandDisallowed {
      share(since: received)
    } else {
      refuse(status, at: now)
    }
  }

  /// The controller scans for another program.
  private mutating func share(since time: MonotonicTime) {
    queue = []
    phase = .shared
    isOurs = false
    needsCensus = true
    began = time
    latestReport = nil
    report(.shared, since: time)
  }

  private mutating func refuse(_ status: UInt8, at now: MonotonicTime) {
    let digits = String(status, radix: 16, uppercase: true)
    report(.refused, since: now, detail: "error 0x\(status < 16 ? "0" : "")\(digits)")
    // What it can do is asked anew.
    commandSet = nil
    wait(retry.next(), from: now)
  }

  /// Takes the scan that runs over, if no other process can have started it: it was left by a process that is
  /// gone, and is ours to end. If that does not help, the controller was given commands of the other way to
  /// scan, and takes no others until it is reset.
  mutating func setAlone(_ isAlone: Bool, at now: MonotonicTime) {
    needsCensus = false
    guard isAlone, phase == .shared, pending == nil else { return }
    takeovers += 1
    if takeovers == 2 { commandSet = commandSet == .extended ? .legacy : .extended }
    guard takeovers <= 2 else {
      takeovers = 0
      return refuse(CommandResult.commandDisallowed, at: now)
    }
    isOurs = true
    start(at: now)
  }
}
