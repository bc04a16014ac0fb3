package import DBusMessages
package import Logging
import Scanning
import Synchronization

/// polkit, which decides by the rules of the system's administrator.
///
/// Questions are never interactive. A check counts only if the process has not ended when its
/// answer comes: then its number has referred to it all the time.
package final class PolkitAuthority: Sendable {
  /// An action of `Packaging/org.beaconscan.policy`.
  package enum Action: String, Sendable {
    case use, always, manage
  }

  package enum Answer: String, Codable, Sendable {
    /// A rule permits it.
    case yes
    /// polkit has decided nothing: someone would have to authenticate.
    case challenge
    /// A rule refuses it.
    case no
  }

  private struct Question {
    let action: Action
    let process: PeerProcess
    let app: String
    let then: @Sendable (Answer?) -> Void
  }

  private let address: BusAddress
  private let timeout: Int64
  private let logger: Logger
  private let questions = Mutex<[Question]>([])
  private let worker = WorkerThread()
  private let rulesChanged: @Sendable () -> Void

  /// Creates a connection to polkit, which begins with the first question. `rulesChanged` is called
  /// when earlier answers may no longer hold. The timeout is in nanoseconds.
  package init(
    on address: BusAddress = .system, timeout: Int64 = 5_000_000_000, logger: Logger,
    rulesChanged: @escaping @Sendable () -> Void
  ) {
    self.address = address
    self.timeout = timeout
    self.logger = logger
    self.rulesChanged = rulesChanged
  }

  /// Asks whether an app may do something. The answer comes on another thread: `nil` without a
  /// polkit, after an error, or if the process has ended.
  package func ask(
    _ action: Action, for app: String, of process: PeerProcess,
    then: @escaping @Sendable (Answer?) -> Void
  ) {
    questions.withLock {
      $0.append(Question(action: action, process: process, app: app, then: then))
    }
    guard worker.start({ [self] in run() }) else { return answerAll() }
    worker.wake.send()
  }

  /// Ends the connection. Further questions are not answered.
  package func stop() {
    worker.requestStop()
    answerAll()
  }

  private func answerAll() {
    for question in take() { question.then(nil) }
  }

  private func take() -> [Question] {
    questions.withLock { questions in
      defer { questions = [] }
      return questions
    }
  }

  // MARK: The thread

  private static let service = "org.freedesktop.PolicyKit1"
  private static let authority = "org.freedesktop.PolicyKit1.Authority"
  private static let path = "/org/freedesktop/PolicyKit1/Authority"
  private static let longestWait: Int64 = 60_000_000_000

  private func run() {
    var connection: BusConnection?
    while !worker.isStopping {
      do throws(BusError) {
        if let bus = connection {
          let messages = try bus.receive(
            waitingAtMost: Self.longestWait, orUntil: worker.wake.descriptor)
          if messages.contains(where: Self.isChange) { rulesChanged() }
        } else {
          worker.wake.wait(nanoseconds: Self.longestWait)
        }
      } catch {
        connection = nil
        rulesChanged()
      }
      worker.wake.reset()
      var hasFailed = false
      for question in take() {
        var answer: Answer?
        do throws(BusError) {
          // One failure answers all that wait.
          if hasFailed { throw .timedOut(member: "CheckAuthorization") }
          if connection == nil { connection = try connect() }
          if let connection { answer = try check(question, on: connection) }
        } catch {
          logger.debug("polkit does not decide about \(question.app): \(error)")
          switch error {
          case .failed, .notPermitted, .invalid: break
          case .timedOut: hasFailed = true
          default:
            hasFailed = true
            connection = nil
          }
        }
        question.then(question.process.isAlive ? answer : nil)
      }
    }
    answerAll()
  }

  private func connect() throws(BusError) -> BusConnection {
    let bus = try BusConnection(address, timeout: timeout)
    for match in [
      BusMatch(sender: Self.service, interface: Self.authority, member: "Changed"),
      .owner(of: Self.service),
    ] {
      _ = try bus.call(.toBus("AddMatch", .string(match.text)), timeout: timeout)
    }
    return bus
  }

  /// Returns whether rules have changed, or polkit has started, or answers after the timeout.
  private static func isChange(_ message: BusMessage) -> Bool {
    message.isSignal("Changed", of: authority) || message.ownerChange?.owner != nil
      || message.kind == .reply
  }

  private func check(
    _ question: Question, on bus: BusConnection
  ) throws(BusError) -> Answer? {
    let process = question.process
    let subject: [String: BusValue] = [
      "pid": .uint32(UInt32(process.process)), "start-time": .uint64(process.startTime),
      "uid": .int32(Int32(bitPattern: process.app.user)),
    ]
    let details = [BusValue.Entry(.string("app"), .string(question.app))]
    let reply = try bus.call(
      BusMessage(
        call: "CheckAuthorization", of: Self.authority, at: Self.path, to: Self.service,
        body: [
          .structure([.string("unix-process"), .properties(subject)]),
          .string("org.beaconscan.\(question.action.rawValue)"),
          .dictionary(key: "s", value: "s", details),
          // No interaction, and no name by which the check could be canceled.
          .uint32(0), .string(""),
        ]), timeout: timeout)
    guard let result = reply.first?.asArray, result.count >= 2, let isYes = result[0].asBool,
      let isChallenge = result[1].asBool
    else { return nil }
    return isYes ? .yes : isChallenge ? .challenge : .no
  }
}
