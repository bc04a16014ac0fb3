import HCIPackets
import Scanning

/// One adapter's scan, without its socket: it is given what happened, and returns which commands to send and
/// how the receiver state changed.
///
/// A controller has one scan, which any program may switch. So every command that another program sends is
/// read, and a scan that another program runs is never switched off: bluetoothd would wait for the end of
/// its discovery for ever.
struct ScanControl: Sendable {
  /// A change of the receiver state.
  struct Change: Hashable, Sendable {
    var condition: ScannerHealth.Condition
    /// When the state began.
    var time: MonotonicTime
    /// Whether nothing can be received.
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
  /// Whether ``setAlone(_:at:)`` is to be called with whether no other process can have started the scan that
  /// runs.
  var needsCensus = false

  var phase = Phase.unusable
  /// The state that was reported last; `nil` before any was.
  var condition: ScannerHealth.Condition?
  /// What a person should know about it beyond the condition's own sentence.
  private(set) var detail: String?
  /// Whether nothing can be received.
  var isReceptionLost = false
  /// When the state began.
  private var latestChange = MonotonicTime(nanoseconds: .min)
  /// How to scan; `nil` while there is no demand.
  var wanted: ScanParameters?
  /// Which commands the controller takes; `nil` before it was asked.
  var commandSet: ScanCommandSet?
  /// Whether the controller can receive on the LE Coded PHY; `nil` before it was asked.
  var supportsCodedPHY: Bool?
  /// Whether the scan that runs is one that this process started.
  var isOurs = false
  /// The command of ours that waits for its answer.
  var pending: (command: HCICommand, sent: MonotonicTime)?
  /// What comes after it.
  var queue: [HCICommand] = []
  /// Commands of others that wait for their answer: the latest 16.
  var foreign: [(command: HCICommand, sent: MonotonicTime)] = []
  /// How often the scan of a process that is gone was taken over, without one of ours since.
  var takeovers = 0
  /// When the controller last answered us.
  var latestAnswer: MonotonicTime?
  /// When any advert was last reported, and when a scan began.
  var latestReport: MonotonicTime?
  var began: MonotonicTime?
  var retry = Backoff.quick
  var quietRetry = Backoff.slow
  var nextQuietRetry: MonotonicTime?

  /// After so many nanoseconds without any advert the state is quiet.
  var quietTimeout: Int64 = 30_000_000_000

  /// How long an answer may take before the controller counts as not answering.
  static let answerLimit: Int64 = 1_000_000_000
  /// The kernel gives up a command after 2 s, and only then sends the next.
  static let commandLife: Int64 = 2_050_000_000
  /// How often it is asked whether it is still there.
  static let probeInterval: Int64 = 1_000_000_000
  /// How long a scan that another program switched off is left to it: it may be about to start its own.
  static let grace: Int64 = 400_000_000

  /// Requests a scan.
  mutating func request(_ parameters: ScanParameters, at now: MonotonicTime) {
    guard parameters != wanted else { return }
    wanted = parameters
    switch phase {
    case .resting, .scanning: start(at: now)
    // The start that is on its way has other parameters.
    case .starting: start(at: now)
    case .unusable, .waiting, .shared: break
    }
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
    if phase != .unusable { phase = .resting }
  }

  /// Starts, as the adapter can be used.
  mutating func opened(at now: MonotonicTime) {
    isOurs = false
    pending = nil
    queue = []
    foreign = []
    commandSet = nil
    phase = .resting
    if wanted != nil { start(at: now) }
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

  /// Starts to scan as requested: asks what the controller can do if that is not known, ends a scan of ours,
  /// sets the parameters and starts.
  mutating func start(at now: MonotonicTime) {
    guard let wanted else { return }
    phase = .starting
    guard let commandSet else {
      queue = [
        HCICommand(.readLocalSupportedCommands), HCICommand(.readLocalLEFeatures),
      ]
      return sendNext(at: now)
    }
    queue = isOurs ? [commandSet.enable(false)] : []
    var parameters = wanted
    parameters.usesCodedPHY = wanted.usesCodedPHY && supportsCodedPHY == true
    queue += [commandSet.set(parameters), commandSet.enable(true)]
    sendNext(at: now)
  }

  /// Waits before it starts again.
  mutating func wait(_ nanoseconds: Int64, from now: MonotonicTime) {
    queue = []
    phase = .waiting(until: now.advanced(by: nanoseconds))
  }

  /// Sends the next command, unless one waits for its answer.
  mutating func sendNext(at now: MonotonicTime) {
    guard pending == nil, !queue.isEmpty else { return }
    let command = queue.removeFirst()
    pending = (command, now)
    commands.append(command)
  }

  /// Reports that the adapter scans, and what was requested that the controller lacks.
  mutating func reportScanning(since time: MonotonicTime) {
    let lacksCoded = wanted?.usesCodedPHY == true && supportsCodedPHY != true
    report(.scanning, since: time, detail: lacksCoded ? "it has no LE Coded PHY" : nil)
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
}
