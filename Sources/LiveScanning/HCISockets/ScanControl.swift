import Bytes
import HCIPackets
import Scanning

/// One adapter's scan without its socket: decides the commands to send and the receiver state.
///
/// A controller has one scan, which any program may switch. So other programs' commands are read,
/// and their scans are never switched off: bluetoothd would wait forever for its discovery's end.
struct ScanControl: Sendable {
  enum Phase: Hashable, Sendable {
    case unusable, resting, starting
    case waiting(until: MonotonicTime)
    /// This process's scan runs, or another program's.
    case scanning, shared
  }

  private(set) var phase = Phase.unusable
  private(set) var setup = ScanSetup()
  var queue = CommandQueue()
  var ownership = ScanOwnership()
  var state = ReportedState()
  private(set) var proof = AbsenceProof()
  var silence = AdvertSilence()
  private var retry = Backoff.quick

  /// The nanoseconds for another program that switched the scan off to start its own scan.
  private static let grace: Int64 = 400_000_000

  // MARK: Demand

  mutating func request(_ parameters: ScanParameters, at now: MonotonicTime) {
    guard parameters != setup.wanted else { return }
    setup.wanted = parameters
    switch phase {
    // A start in progress has other parameters.
    case .resting, .scanning, .starting: start(at: now)
    case .unusable, .waiting, .shared: break
    }
  }

  mutating func rest() {
    setup.wanted = nil
    // A start that was sent will still be answered.
    let isStarting = queue.pending.map { setup.isSwitch($0.command) } ?? false
    if ownership.isOurs || isStarting, let off = setup.off { queue.outgoing.append(off) }
    ownership.isOurs = false
    queue.removeOurs()
    proof.filterKnown()
    if phase != .unusable { phase = .resting }
  }

  // MARK: The adapter

  mutating func left() {
    let wanted = setup.wanted
    rest()
    setup.wanted = wanted
    state.forget()
  }

  mutating func opened(at now: MonotonicTime, inPlaceOf other: String? = nil) {
    proof.opened(inPlaceOf: other)
    ownership.ended()
    queue.opened()
    setup.forget()
    phase = .resting
    start(at: now)
  }

  mutating func closed(
    _ condition: ScannerHealth.Condition, since time: MonotonicTime, detail: String? = nil
  ) {
    close()
    state.report(condition, since: time, detail: detail)
  }

  mutating func close() {
    phase = .unusable
    ownership.isOurs = false
    queue.closed()
  }

  /// Starts the requested scan, after queries of the controller if necessary.
  private mutating func start(at now: MonotonicTime) {
    guard setup.wanted != nil else { return }
    phase = .starting
    queue.send(setup.start(endingOurs: ownership.isOurs), at: now)
  }

  private mutating func wait(_ nanoseconds: Int64, from now: MonotonicTime) {
    queue.waiting = []
    phase = .waiting(until: now.advanced(by: nanoseconds))
  }

  // MARK: Reports

  private mutating func reportScanning(since time: MonotonicTime) {
    let details = [setup.lacksCodedPHY ? "it has no LE Coded PHY" : nil, proof.detail]
      .compactMap(\.self)
    state.report(
      .scanning, since: time, detail: details.isEmpty ? nil : details.joined(separator: "; "),
      isReceptionLost: proof.isMissing)
  }

  mutating func reportReceiving(since time: MonotonicTime) {
    guard phase != .scanning else { return reportScanning(since: time) }
    state.report(
      .shared, since: time,
      detail: proof.mayBeFiltered
        ? "perhaps with its duplicate filter on, until an advert comes twice" : nil,
      isReceptionLost: proof.isMissing)
  }

  mutating func receptionLost(from start: MonotonicTime, to end: MonotonicTime, detail: String) {
    guard phase == .scanning || phase == .shared, !state.isReceptionLost else { return }
    state.report(.lossy, since: start, detail: detail, isReceptionLost: true)
    state.report(.lossy, since: end, detail: detail, isReceptionLost: false)
  }

  // MARK: Answers of the controller

  /// Handles an answer to any program's command, which the kernel received at `received`.
  mutating func answered(
    _ result: borrowing CommandResult, received: MonotonicTime? = nil, at now: MonotonicTime
  ) {
    switch queue.answered(result.opcode, at: now) {
    case .ours(let command):
      handle(result, to: command, received: received ?? now, at: now)
      queue.sendNext(at: now)
    case .foreign(let command):
      if result.status == 0 { done(byOther: command, at: now) }
    case nil: break
    }
    // A controller that answers again may have lost the scan.
    if state.condition == .notAnswering, phase != .starting {
      queue.waiting = []
      start(at: now)
    }
  }

  private mutating func handle(
    _ result: borrowing CommandResult, to command: HCICommand, received: MonotonicTime,
    at now: MonotonicTime
  ) {
    if command.opcode == .readLocalVersion, phase == .shared { ownership.needsCensus = true }
    if setup.answered(result), phase == .starting { start(at: now) }
    switch (phase, setup.step(of: command)) {
    case (.shared, .parameters) where result.status == 0:
      // A scanning controller refuses them, so the other program's scan has ended.
      phase = .starting
      if let on = setup.on { queue.send([on], at: now) }
    case (.shared, .on) where result.status == 0, (.shared, .off) where result.status == 0:
      // Another program was slightly faster, and the controller accepted both.
      ownership.mayBeOurs = true
    case (.starting, .off):
      // If this was refused, the scan is already off.
      ownership.isOurs = false
    case (.starting, .parameters)
    where result.status == CommandResult.unknownCommand && setup.commandSet == .extended:
      setup.useOther()
      start(at: now)
    case (.starting, .parameters) where result.status != 0,
      (.starting, .on) where result.status != 0:
      startFailed(result.status, received: received, at: now)
    case (.starting, .on): started(at: received)
    default: break
    }
  }

  private mutating func started(at time: MonotonicTime) {
    ownership.started()
    phase = .scanning
    proof.filterKnown()
    retry.reset()
    silence.began(at: time)
    // It is not known yet whether it receives. Adverts that were read with the answer came later.
    if state.condition == .quiet {
      state.report(.quiet, since: time, isReceptionLost: proof.isMissing)
    } else {
      reportScanning(since: time)
    }
  }

  private mutating func startFailed(
    _ status: UInt8, received: MonotonicTime, at now: MonotonicTime
  ) {
    guard status == CommandResult.commandDisallowed else { return refuse(status, at: now) }
    queue.waiting = []
    phase = .shared
    ownership.isOurs = false
    ownership.needsCensus = true
    silence.began(at: received)
    // The command that started it was sent before this socket was opened.
    proof.filterUnknown()
    reportReceiving(since: received)
  }

  private mutating func refuse(_ status: UInt8, at now: MonotonicTime) {
    state.report(.refused, since: now, detail: "error 0x\(status.hexadecimal)")
    setup.forget()
    wait(retry.next(), from: now)
  }

  /// Handles whether no other process can have started the scan that runs: then this one may end
  /// it.
  mutating func setAlone(_ isAlone: Bool, at now: MonotonicTime) {
    ownership.needsCensus = false
    guard isAlone, phase == .shared, queue.pending == nil else { return }
    switch ownership.takeOver() {
    case .sameCommands: break
    case .otherCommands: setup.useOther()
    case .impossible: return refuse(CommandResult.commandDisallowed, at: now)
    }
    start(at: now)
  }

  // MARK: Other programs and the kernel

  mutating func done(byOther command: HCICommand, at now: MonotonicTime) {
    let isOn = command.opcode != .reset && command.parameters.first == 1
    guard isOn else { return scanEnded(at: now) }
    var wasOurs = ownership.isOurs || phase == .starting
    if case .waiting = phase { wasOurs = true }
    ownership.isOurs = false
    guard setup.wanted != nil else { return }
    queue.waiting = []
    phase = .shared
    proof.filterKnown()
    let filters = command.parameters.count > 1 && command.parameters[1] != 0
    if filters || wasOurs || state.condition == .takenOver {
      // An advert that is reported only once may be present in silence.
      state.report(
        .takenOver, since: now, detail: filters ? "each advert is reported once" : nil,
        isReceptionLost: filters)
    } else {
      state.report(.shared, since: now)
    }
  }

  /// Handles that the scan was switched off. It is restarted a little later, because another
  /// program may be about to start its own.
  mutating func scanEnded(at now: MonotonicTime) {
    let wasOurs = ownership.ended()
    proof.filterKnown()
    guard setup.wanted != nil, phase != .unusable else { return }
    // The answer to an earlier command does not come, or no longer matters.
    if let pending = queue.pending, setup.isSwitch(pending.command) { queue.pending = nil }
    wait(Self.grace, from: now)
    // In other states reception is already lost, or the scan was not ours.
    switch state.condition {
    case .scanning, .lossy, .quiet: if wasOurs { state.report(.stopped, since: now) }
    default: break
    }
  }

  /// Handles a fault that the controller reported; the kernel resets the controller.
  mutating func hardwareError(_ code: UInt8, at now: MonotonicTime) {
    ownership.ended()
    queue.pending = nil
    setup.forget()
    proof.filterKnown()
    state.report(.hardwareError, since: now, detail: "code 0x\(code.hexadecimal)")
    if setup.wanted != nil { wait(Self.grace, from: now) }
  }

  // MARK: Adverts

  mutating func received(at now: MonotonicTime) {
    silence.received(at: now)
    let isFirstInPlace = proof.received()
    if state.condition == .quiet || state.condition == .scanning && isFirstInPlace {
      reportReceiving(since: now)
    } else if state.condition == .notAnswering, state.isReceptionLost {
      state.report(.notAnswering, since: now, isReceptionLost: proof.isMissing)
    }
  }

  /// Records an advert's hash. A repetition shows that another scan's duplicate filter is off.
  mutating func received(report hash: Int, at time: MonotonicTime) {
    if proof.received(hash, at: time), state.condition == .shared { reportReceiving(since: time) }
  }

  // MARK: Time

  /// Returns when ``advance(to:)`` next has something to do. Every call also checks for silence.
  func nextDeadline(after now: MonotonicTime) -> MonotonicTime? {
    if let deadline = queue.deadline(after: now) { return deadline }
    return switch phase {
    case .waiting(let moment): moment
    case .scanning, .shared: nextProbe(at: now)
    case .unusable, .resting, .starting: nil
    }
  }

  private func nextProbe(at now: MonotonicTime) -> MonotonicTime {
    queue.latestAnswer?.advanced(by: silence.probeInterval(at: now)) ?? now
  }

  mutating func advance(to now: MonotonicTime) {
    guard phase != .unusable, setup.wanted != nil else { return }
    if let pending = queue.pending { missAnswer(since: pending.time, at: now) }
    if case .waiting(let moment) = phase, moment <= now { start(at: now) }
    guard phase == .scanning || phase == .shared else { return }
    if queue.isIdle, now >= nextProbe(at: now) {
      queue.send([HCICommand(.readLocalVersion)], at: now)
    }
    detectQuiet(at: now)
  }

  private mutating func missAnswer(since sent: MonotonicTime, at now: MonotonicTime) {
    let waited = now.nanoseconds(since: sent)
    guard waited >= CommandQueue.answerLimit else { return }
    if state.condition != .hardwareError || waited >= CommandQueue.commandLife {
      // Adverts may come nevertheless. If not, the latest advert or answer was the last reception.
      let receives = silence.latestReport.map { $0 > sent } ?? false
      let latest = [silence.latestReport, queue.latestAnswer].compactMap(\.self).max() ?? sent
      state.report(
        .notAnswering, since: receives ? sent : min(latest, sent),
        isReceptionLost: !receives || proof.isMissing)
    }
    guard waited >= CommandQueue.commandLife else { return }
    queue.pending = nil
    // Its answer shows that the controller is back.
    if phase == .starting { phase = ownership.isOurs ? .scanning : .shared }
    queue.send([HCICommand(.readLocalVersion)], at: now)
  }

  private mutating func detectQuiet(at now: MonotonicTime) {
    guard silence.isQuiet(at: now), state.condition != .notAnswering else { return }
    if !state.isReceptionLost || proof.isMissing {
      state.report(.quiet, since: now, isReceptionLost: proof.isMissing)
    }
    guard queue.pending == nil, silence.retries(at: now) else { return }
    // Some controllers fall silent until the scan is restarted. Or the end of another program's
    // scan was missed; a scanning controller refuses parameters, which does not disturb it.
    if phase == .scanning {
      start(at: now)
    } else if let parameters = setup.parameters {
      queue.send([parameters], at: now)
    }
  }
}
