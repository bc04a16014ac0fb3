import Adapters
import Bytes
import HCIPackets
import Scanning

/// One adapter's scan, without its socket: it is given what happened, and returns which commands to send and how
/// the receiver state changed.
///
/// A controller has one scan, which any program may switch. So every command that another program sends is read,
/// and a scan that another program runs is never switched off: bluetoothd would wait for the end of its discovery
/// for ever.
struct ScanControl: Sendable {
  /// A change of the receiver state.
  struct Change: Hashable, Sendable {
    var condition: ScannerHealth.Condition
    var time: MonotonicTime
    var isReceptionLost: Bool
    /// What a person should know beyond the condition's own sentence.
    var detail: String?
  }

  /// The steps of a scan.
  enum Phase: Hashable, Sendable {
    /// The adapter cannot be used.
    case unusable
    /// There is no demand: the scan is off, or another program's.
    case resting
    /// Commands are on their way.
    case starting
    /// The scan will start at a moment.
    case waiting(until: MonotonicTime)
    /// The scan runs as requested.
    case scanning
    /// The scan that runs is another program's.
    case shared
  }

  /// The commands to send, in order; the sender removes them.
  var commands: [HCICommand] = []
  /// The changes to report, in order; the reporter removes them.
  var changes: [Change] = []
  /// Whether ``setAlone(_:at:)`` is to be called with whether no other process can have started the scan that runs.
  var needsCensus = false

  var phase = Phase.unusable
  /// The state that was reported last; `nil` before any was.
  var condition: ScannerHealth.Condition?
  /// What a person should know about it beyond the condition's own sentence.
  private(set) var detail: String?
  var isReceptionLost = false
  /// Finds adverts that are reported twice, while it is not known whether another program's scan has its duplicate filter on;
  /// `nil` otherwise.
  private var repeats: RepeatFinder?
  /// The adapter in whose place this one scans, for a person; `nil` where there is none.
  private var replaced: String?
  /// Whether this adapter has received anything in that place.
  private var hasReceivedInPlace = false
  private var latestChange = MonotonicTime(nanoseconds: .min)
  /// How to scan; `nil` while there is no demand.
  var wanted: ScanParameters?
  /// Which commands the controller takes; `nil` before it was asked.
  private var commandSet: ScanCommandSet?
  /// Whether the controller can receive on the LE Coded PHY; `nil` before it was asked.
  private var supportsCodedPHY: Bool?
  /// Whether the scan that runs is one that this process started.
  var isOurs = false {
    didSet { if isOurs { mayBeOurs = true } }
  }
  /// Whether this process has started a scan since it was last off: another program may have done the same then.
  private(set) var mayBeOurs = false
  /// The command of ours that waits for its answer.
  var pending: (command: HCICommand, sent: MonotonicTime)?
  /// What comes after it.
  var queue: [HCICommand] = []
  /// Commands of others that wait for their answer: the latest 16.
  var foreign: [(command: HCICommand, sent: MonotonicTime)] = []
  /// How often the scan of a process that is gone was taken over, without one of ours since.
  private var takeovers = 0
  /// When the controller last answered us.
  private var latestAnswer: MonotonicTime?
  /// When any advert was last reported, and when a scan began.
  private var latestReport: MonotonicTime?
  private var began: MonotonicTime?
  private var retry = Backoff.quick
  private var quietRetry = Backoff.slow
  private var nextQuietRetry: MonotonicTime?

  /// After so many nanoseconds without any advert the state is quiet.
  var quietTimeout: Int64 = 30_000_000_000

  /// How long an answer may take before the controller counts as not answering.
  private static let answerLimit: Int64 = 1_000_000_000
  /// The kernel gives up a command after 2 s, and only then sends the next.
  private static let commandLife: Int64 = 2_050_000_000
  /// How often it is asked whether it is still there, and how often where nothing has been on air for so long: what could
  /// exit soon is on air.
  private static let (probeInterval, quietProbeInterval): (Int64, Int64) =
    (1_000_000_000, 4_000_000_000)
  private static let quietBegins: Int64 = 10_000_000_000
  /// How long a scan that another program switched off is left to it: it may be about to start its own.
  private static let grace: Int64 = 400_000_000

  mutating func request(_ parameters: ScanParameters, at now: MonotonicTime) {
    guard parameters != wanted else { return }
    wanted = parameters
    switch phase {
    // A start that is on its way has other parameters.
    case .resting, .scanning, .starting: start(at: now)
    case .unusable, .waiting, .shared: break
    }
  }

  /// Whether the reports are needed by ``received(report:at:)``.
  var needsReports: Bool { repeats != nil }

  /// Whether the absence of adverts means nothing yet, though the adapter scans.
  private var isUnproven: Bool {
    repeats != nil || replaced != nil && !hasReceivedInPlace
  }

  /// Takes the scan that runs for ours, because no other process is there that could have started it: the next rest ends
  /// it.
  mutating func adopt() {
    if phase == .shared { isOurs = true }
  }

  /// Switches the scan off, if it is ours, as there is no demand.
  mutating func rest() {
    wanted = nil
    // A start that was sent and not answered yet will be answered.
    let isStarting = pending.map { $0.command.opcode == commandSet?.enableOpcode } ?? false
    if isOurs || isStarting, let commandSet { commands.append(commandSet.enable(false)) }
    isOurs = false
    pending = nil
    queue = []
    repeats = nil
    if phase != .unusable { phase = .resting }
  }

  /// Leaves the adapter for another one, whose state is reported anew.
  mutating func left() {
    let wanted = wanted
    rest()
    self.wanted = wanted
    (condition, detail) = (nil, nil)
  }

  /// Starts, as the adapter can be used, perhaps in the place of another one.
  mutating func opened(at now: MonotonicTime, inPlaceOf other: String? = nil) {
    if other != replaced { (replaced, hasReceivedInPlace) = (other, false) }
    (isOurs, mayBeOurs) = (false, false)
    pending = nil
    queue = []
    foreign = []
    commandSet = nil
    repeats = nil
    phase = .resting
    start(at: now)
  }

  /// Stops, as the adapter cannot be used, and reports why.
  mutating func closed(
    _ condition: ScannerHealth.Condition, since time: MonotonicTime, detail: String? = nil
  ) {
    close()
    report(condition, since: time, detail: detail)
  }

  /// Stops, as the adapter cannot be used for the moment.
  mutating func close() {
    phase = .unusable
    isOurs = false
    pending = nil
    queue = []
    commands = []
  }

  /// Starts to scan as requested: asks what the controller can do if that is not known, ends a scan of ours, sets
  /// the parameters and starts.
  private mutating func start(at now: MonotonicTime) {
    guard let wanted else { return }
    phase = .starting
    guard let commandSet else {
      queue = [HCICommand(.readLocalSupportedCommands), HCICommand(.readLocalLEFeatures)]
      return sendNext(at: now)
    }
    queue = isOurs ? [commandSet.enable(false)] : []
    var parameters = wanted
    parameters.usesCodedPHY = wanted.usesCodedPHY && supportsCodedPHY == true
    queue += [commandSet.set(parameters), commandSet.enable(true)]
    sendNext(at: now)
  }

  /// Waits before it starts again.
  private mutating func wait(_ nanoseconds: Int64, from now: MonotonicTime) {
    queue = []
    phase = .waiting(until: now.advanced(by: nanoseconds))
  }

  /// Sends the next command, unless one waits for its answer.
  private mutating func sendNext(at now: MonotonicTime) {
    guard pending == nil, !queue.isEmpty else { return }
    let command = queue.removeFirst()
    pending = (command, now)
    commands.append(command)
  }

  /// Reports that the adapter scans, and what was requested that the controller lacks.
  mutating func reportScanning(since time: MonotonicTime) {
    let lacksCoded = wanted?.usesCodedPHY == true && supportsCodedPHY != true
    let details = [
      lacksCoded ? "it has no LE Coded PHY" : nil,
      replaced.map {
        "in the place of \($0), which is used again when it is back and on"
          + (hasReceivedInPlace ? "" : "; it has not received anything yet")
      },
    ].compactMap(\.self)
    report(
      .scanning, since: time, detail: details.isEmpty ? nil : details.joined(separator: "; "),
      isReceptionLost: isUnproven)
  }

  /// Reports that it receives, by its own scan or another program's.
  mutating func reportReceiving(since time: MonotonicTime) {
    guard phase != .scanning else { return reportScanning(since: time) }
    report(
      .shared, since: time,
      detail: repeats == nil
        ? nil : "perhaps with its duplicate filter on, until an advert comes twice",
      isReceptionLost: isUnproven)
  }

  /// Reports that what was on air between two moments was not received, though the adapter scanned.
  mutating func receptionLost(from start: MonotonicTime, to end: MonotonicTime, detail: String) {
    guard phase == .scanning || phase == .shared, !isReceptionLost else { return }
    report(.lossy, since: start, detail: detail, isReceptionLost: true)
    report(.lossy, since: end, detail: detail, isReceptionLost: false)
  }

  /// Reports the receiver state, if it changed.
  mutating func report(
    _ condition: ScannerHealth.Condition, since time: MonotonicTime, detail: String? = nil,
    isReceptionLost: Bool? = nil
  ) {
    let isReceptionLost = isReceptionLost ?? condition.isFault
    guard condition != self.condition || isReceptionLost != self.isReceptionLost else { return }
    self.condition = condition
    self.detail = detail
    self.isReceptionLost = isReceptionLost
    // What is noticed late did not begin before what was noticed earlier.
    latestChange = max(latestChange, time)
    changes.append(
      Change(
        condition: condition, time: latestChange, isReceptionLost: isReceptionLost, detail: detail))
  }

  // MARK: What the controller answers

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
    // A controller that answers again may have lost the scan.
    if condition == .notAnswering, phase != .starting {
      queue = []
      start(at: now)
    }
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
    case commandSet?.parametersOpcode where phase == .shared && result.status == 0:
      phase = .starting
      if let commandSet { queue = [commandSet.enable(true)] }
    case .readLocalVersion where phase == .shared: needsCensus = true
    case commandSet?.enableOpcode where phase == .starting && command.parameters.first != 1:
      // Off already, if it would not: nothing of ours runs.
      isOurs = false
    case commandSet?.parametersOpcode
    where phase == .starting && result.status == CommandResult.unknownCommand
      && commandSet == .extended:
      commandSet = .legacy
      start(at: now)
    case commandSet?.parametersOpcode where phase == .starting && result.status != 0,
      commandSet?.enableOpcode where phase == .starting && result.status != 0:
      startFailed(result.status, received: received, at: now)
    case commandSet?.enableOpcode where phase == .shared && result.status == 0:
      // Another program was faster by a moment, and the controller took both.
      mayBeOurs = true
    case commandSet?.enableOpcode where phase == .starting:
      isOurs = true
      phase = .scanning
      repeats = nil
      retry.reset()
      takeovers = 0
      began = received
      latestReport = nil
      // Whether it receives anything now will be seen. What was read with the answer came after it.
      if condition == .quiet {
        report(.quiet, since: received, isReceptionLost: isUnproven)
      } else {
        reportScanning(since: received)
      }
    default: break
    }
  }

  private mutating func startFailed(
    _ status: UInt8, received: MonotonicTime, at now: MonotonicTime
  ) {
    if status == CommandResult.commandDisallowed {
      // The controller scans for another program.
      queue = []
      phase = .shared
      isOurs = false
      needsCensus = true
      began = received
      latestReport = nil
      // The command that started it was sent before this socket was there.
      repeats = RepeatFinder()
      reportReceiving(since: received)
    } else {
      refuse(status, at: now)
    }
  }

  private mutating func refuse(_ status: UInt8, at now: MonotonicTime) {
    report(.refused, since: now, detail: "error \(Self.hexadecimal(status))")
    // What it can do is asked anew.
    commandSet = nil
    wait(retry.next(), from: now)
  }

  /// Takes the scan that runs over, if no other process can have started it: it was left by a process that is gone,
  /// and is ours to end. If that does not help, the controller was given commands of the other way to scan, and
  /// takes no others until it is reset.
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

  // MARK: What other programs and the kernel do with the controller

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
    var wasOurs = isOurs || phase == .starting
    if case .waiting = phase { wasOurs = true }
    isOurs = false
    guard wanted != nil else { return }
    queue = []
    phase = .shared
    repeats = nil
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

  private static func hexadecimal(_ code: UInt8) -> String {
    "0x\(code < 16 ? "0" : "")" + String(code, radix: 16, uppercase: true)
  }

  /// Handles that another program switched the scan off. That program may be about to start its own: a little later
  /// the scan is started again.
  mutating func scanEnded(at now: MonotonicTime) {
    let wasOurs = isOurs
    (isOurs, mayBeOurs) = (false, false)
    repeats = nil
    guard wanted != nil, phase != .unusable else { return }
    // The answer to a command of before does not come, or means nothing any more.
    if pending?.command.opcode == commandSet?.enableOpcode { pending = nil }
    wait(Self.grace, from: now)
    // In other states reception is lost already, or the scan was not this process's.
    switch condition {
    case .scanning, .lossy, .quiet: if wasOurs { report(.stopped, since: now) }
    default: break
    }
  }

  /// Handles that the controller reported a fault; the kernel resets it.
  mutating func hardwareError(_ code: UInt8, at now: MonotonicTime) {
    (isOurs, mayBeOurs) = (false, false)
    pending = nil
    commandSet = nil
    repeats = nil
    report(.hardwareError, since: now, detail: "code \(Self.hexadecimal(code))")
    if wanted != nil { wait(Self.grace, from: now) }
  }

  /// Records that an advert of any kind was reported.
  mutating func received(at now: MonotonicTime) {
    latestReport = now
    quietRetry.reset()
    nextQuietRetry = nil
    let isFirstInPlace = replaced != nil && !hasReceivedInPlace
    hasReceivedInPlace = true
    if condition == .quiet || condition == .scanning && isFirstInPlace {
      reportReceiving(since: now)
    } else if condition == .notAnswering, isReceptionLost {
      report(.notAnswering, since: now, isReceptionLost: isUnproven)
    }
  }

  /// Records the hash of an advert that was reported: its sender, kind and data. One that is reported twice shows that the
  /// duplicate filter of another program's scan is off.
  mutating func received(report hash: Int, at time: MonotonicTime) {
    guard repeats?.receive(hash, at: time) == true else { return }
    repeats = nil
    if condition == .shared { reportReceiving(since: time) }
  }

  // MARK: Time

  /// Returns when ``advance(to:)`` next has something to do; silence is looked for whenever it is called.
  func nextDeadline(after now: MonotonicTime) -> MonotonicTime? {
    if let pending {
      let late = pending.sent.advanced(by: Self.answerLimit)
      return late > now ? late : pending.sent.advanced(by: Self.commandLife)
    }
    return switch phase {
    case .waiting(let moment): moment
    case .scanning, .shared: nextProbe(at: now)
    case .unusable, .resting, .starting: nil
    }
  }

  /// When the controller is to be asked whether it is still there.
  private func nextProbe(at now: MonotonicTime) -> MonotonicTime {
    let since = latestReport ?? began ?? now
    let isQuiet = now.nanoseconds(since: since) >= Self.quietBegins
    return latestAnswer?.advanced(by: isQuiet ? Self.quietProbeInterval : Self.probeInterval) ?? now
  }

  /// Lets time pass.
  mutating func advance(to now: MonotonicTime) {
    guard phase != .unusable, wanted != nil else { return }
    if let pending { missAnswer(since: pending.sent, at: now) }
    if case .waiting(let moment) = phase, moment <= now { start(at: now) }
    guard phase == .scanning || phase == .shared else { return }
    if pending == nil, queue.isEmpty, now >= nextProbe(at: now) {
      queue = [HCICommand(.readLocalVersion)]
      sendNext(at: now)
    }
    detectQuiet(at: now)
  }

  private mutating func missAnswer(since sent: MonotonicTime, at now: MonotonicTime) {
    let waited = now.nanoseconds(since: sent)
    guard waited >= Self.answerLimit else { return }
    if condition != .hardwareError || waited >= Self.commandLife {
      // Adverts may come nevertheless. If not, the latest of them and the latest answer are the last signs of reception.
      let receives = latestReport.map { $0 > sent } ?? false
      let latest = [latestReport, latestAnswer].compactMap(\.self).max() ?? sent
      report(
        .notAnswering, since: receives ? sent : min(latest, sent),
        isReceptionLost: !receives || isUnproven)
    }
    guard waited >= Self.commandLife else { return }
    pending = nil
    // Whatever it was, its answer is what shows that the controller is back.
    if phase == .starting { phase = isOurs ? .scanning : .shared }
    queue = [HCICommand(.readLocalVersion)]
    sendNext(at: now)
  }

  private mutating func detectQuiet(at now: MonotonicTime) {
    guard let since = latestReport ?? began else { return }
    guard now.nanoseconds(since: since) >= quietTimeout, condition != .notAnswering else { return }
    if !isReceptionLost || isUnproven {
      report(.quiet, since: now, isReceptionLost: isUnproven)
    }
    guard pending == nil, now >= nextQuietRetry ?? now else { return }
    // Some controllers fall silent until the scan is started again. And the end of another program's scan may have
    // been missed: one that scans refuses parameters, and is not disturbed by that.
    if nextQuietRetry != nil, phase == .scanning {
      start(at: now)
    } else if nextQuietRetry != nil, let commandSet, let wanted {
      queue = [commandSet.set(wanted)]
      sendNext(at: now)
    }
    nextQuietRetry = now.advanced(by: quietRetry.next())
  }
}
