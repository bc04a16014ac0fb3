import HCIPackets
import Scanning

/// One adapter's scan, without its socket: it is told what happened, and says which commands to send and
/// what changed in how well the adapter hears.
///
/// A controller has one scan, which any program may switch. So every command that another program sends is
/// looked at, and a scan that another one runs is never switched off: bluetoothd would wait for the end of
/// its discovery for ever.
struct ScanControl: Sendable {
  /// What changed.
  struct Change: Hashable, Sendable {
    var condition: ScannerHealth.Condition
    /// Since when.
    var time: MonotonicTime
    /// Whether nothing can be heard.
    var isReceptionLost: Bool
    /// What a person should know beyond the condition's own sentence.
    var detail: String?
  }

  /// How far it is.
  enum Phase: Hashable, Sendable {
    /// The adapter cannot be used.
    case unusable
    /// Nobody listens: the scan is off, or another program's.
    case resting
    /// Commands are on their way.
    case starting
    /// It will start at a moment.
    case waiting(until: MonotonicTime)
    /// The scan runs as it was asked for.
    case scanning
    /// The scan that runs is another program's.
    case shared
  }

  /// What is to be sent, in order; who sends it takes it.
  var commands: [HCICommand] = []
  /// What changed, in order; who tells it takes it.
  var changes: [Change] = []
  /// Whether somebody should look if no other process can have started the scan that runs, and say so to
  /// ``isAlone(_:at:)``.
  var asksForCensus = false

  var phase = Phase.unusable
  /// How it is, as was told last; `nil` before anything was.
  var condition: ScannerHealth.Condition?
  /// Whether nothing can be heard.
  var isReceptionLost = false
  /// Since when it is so.
  private var latestChange = MonotonicTime(nanoseconds: .min)
  /// How to scan; `nil` while nobody listens.
  var wanted: ScanParameters?
  /// Which commands the controller takes; `nil` before it was asked.
  var commandSet: ScanCommandSet?
  /// Whether it can listen on the LE Coded PHY; `nil` before it was asked.
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

  /// After so many nanoseconds without any advert it is said that nothing is heard.
  var quietLimit: Int64 = 30_000_000_000

  /// How long an answer may take before the controller counts as not answering.
  static let answerLimit: Int64 = 1_000_000_000
  /// The kernel gives up a command after 2 s, and only then sends the next.
  static let commandLife: Int64 = 2_050_000_000
  /// How often it is asked whether it is still there.
  static let probeInterval: Int64 = 1_000_000_000
  /// How long a scan that another program switched off is left to it: it may be about to start its own.
  static let grace: Int64 = 400_000_000

  /// Asks for a scan.
  mutating func listen(_ parameters: ScanParameters, at now: MonotonicTime) {
    guard parameters != wanted else { return }
    wanted = parameters
    switch phase {
    case .resting, .scanning: start(at: now)
    // The start that is under way had other parameters.
    case .starting: start(at: now)
    case .unusable, .waiting, .shared: break
    }
  }

  /// Nobody listens any more: the scan goes off, if it is ours.
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

  /// The adapter can be used.
  mutating func opened(at now: MonotonicTime) {
    isOurs = false
    pending = nil
    queue = []
    foreign = []
    commandSet = nil
    phase = .resting
    if wanted != nil { start(at: now) }
  }

  /// The adapter cannot be used, and that is to be told.
  mutating func closed(
    _ condition: ScannerHealth.Condition, since time: MonotonicTime, detail: String? = nil
  ) {
    close()
    note(condition, since: time, detail: detail)
  }

  /// The adapter cannot be used for the moment.
  mutating func close() {
    phase = .unusable
    isOurs = false
    pending = nil
    queue = []
    commands = []
  }

  /// Begins to scan as is wanted: asks what the controller can do if that is not known, ends a scan of ours,
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

  /// Tells that all is well, but for what was asked for and the controller has not.
  mutating func noteScanning(since time: MonotonicTime) {
    let lacksCoded = wanted?.usesCodedPHY == true && supportsCodedPHY != true
    note(.scanning, since: time, detail: lacksCoded ? "it has no LE Coded PHY" : nil)
  }

  /// Tells how it is, if that changed.
  mutating func note(
    _ condition: ScannerHealth.Condition, since time: MonotonicTime, detail: String? = nil,
    isReceptionLost: Bool? = nil
  ) {
    let isReceptionLost = isReceptionLost ?? condition.isFault
    guard condition != self.condition || isReceptionLost != self.isReceptionLost else { return }
    self.condition = condition
    self.isReceptionLost = isReceptionLost
    // What is noticed late did not begin before what was noticed earlier.
    latestChange = max(latestChange, time)
    changes.append(
      Change(condition: condition, time: latestChange, isReceptionLost: isReceptionLost, detail: detail))
  }
}
