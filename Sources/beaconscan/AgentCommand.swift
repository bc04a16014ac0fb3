import AppDaemon
import ArgumentParser
import Frontends
import Glibc
import Records

struct AgentCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "agent",
    abstract: "Ask a person which apps may use beacons and locations.",
    discussion: """
      The service, beaconscan serve --apps, puts the questions of a user's apps to the newest agent \
      of that user, or else of root. The answers: once, until the app ends; while in use, while it \
      runs; always; no. An answer is kept until beaconscan apps revoke. A question without an \
      answer is withdrawn after two minutes and asked again later. Without a terminal, each line of \
      standard input answers a question. With --notify the questions are notifications of the \
      desktop. See docs/daemon.md.

      EXAMPLES
        beaconscan agent
        beaconscan agent --notify
        beaconscan agent --once
      """)

  @Flag(.flag("once", "End after one answer.")) var once: Bool
  @Flag(.flag("notify", "Ask by notifications of the desktop, with a button for each answer."))
  var notify: Bool
  @OptionGroup(title: "Input") var daemon: DaemonOption
  @OptionGroup(title: "Input") var configuration: ConfigurationOption
  @Flag(Inputs.quiet.rare) var quiet: Bool

  func run() throws {
    let notices = notify ? try AgentNotices(bus: try SessionBus.address()) : nil
    var run = AgentRun(notices, socket: daemon.socket, endsAfterOne: once, isQuiet: quiet)
    try run.run()
  }
}

/// Puts the service's questions to a person, until it is interrupted.
private struct AgentRun {
  let socket: String?
  let endsAfterOne: Bool
  let isQuiet: Bool

  /// The desktop that asks in place of the terminal.
  private var notices: AgentNotices?
  private var dialog = AgentDialog(user: getuid())
  private var connection: DaemonConnection?
  private var input = LineInput(STDIN_FILENO)
  private let isTerminal = isatty(STDIN_FILENO) == 1
  private let out = StandardOutput()
  /// The question that is shown and not answered.
  private var shown: UInt64?
  /// The number of answers that were sent and that the service has not confirmed.
  private var unconfirmed = 0

  /// The milliseconds between two attempts to connect again.
  private static let pause: Int32 = 1000

  init(_ notices: AgentNotices?, socket: String?, endsAfterOne: Bool, isQuiet: Bool) {
    self.notices = notices
    self.socket = socket
    self.endsAfterOne = endsAfterOne
    self.isQuiet = isQuiet
  }

  mutating func run() throws {
    try connect()
    while !Interrupt.isRequested {
      wait()
      if connection == nil {
        try? connect()
        continue
      }
      while let reply = try connection?.next() {
        if try take(reply) {
          try notices?.show([], user: dialog.user)
          return
        }
      }
      if connection?.input.isOver == true { try endConnection() }
      if notices != nil {
        try notify()
      } else {
        try show()
        try takeLines()
      }
    }
    try notices?.show([], user: dialog.user)
    if shown != nil { try write("\n") }
    if endsAfterOne {
      throw CommandError(.interrupted, "interrupted before a question was answered")
    }
  }

  private mutating func connect() throws(CommandError) {
    let new = try DaemonConnection(socket)
    new.send(.agent)
    connection = new
  }

  private mutating func endConnection() throws {
    connection?.close()
    connection = nil
    dialog.clear()
    unconfirmed = 0
    try notices?.show([], user: dialog.user)
    try show()
    report("the service for apps has ended; waiting for it")
  }

  /// Waits for the service, for a line while a question is open, and for an interrupt.
  private mutating func wait() {
    let wantsLine = shown != nil && unconfirmed == 0 && !input.isOver
    var entries = [
      pollfd(fd: Interrupt.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: connection?.input.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: wantsLine ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: notices?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    // The array outlives the call.
    _ = unsafe poll(&entries, nfds_t(entries.count), connection == nil ? Self.pause : -1)
    if entries[1].revents != 0 { connection?.read() }
    if entries[2].revents != 0 { input.read() }
  }

  /// Returns whether the agent is done.
  private mutating func take(_ reply: ManagementReply) throws -> Bool {
    switch reply {
    case .consent(let message): dialog.receive(message)
    case .done where unconfirmed > 0:
      unconfirmed -= 1
      return endsAfterOne
    case .done:
      report("waiting for questions at \(connection?.path ?? "")")
    case .failed, .apps, .launch: throw CommandError(reply)
    }
    return false
  }

  /// Lets the desktop ask, and passes its answers on.
  private mutating func notify() throws {
    try notices?.show(dialog.questions, user: dialog.user)
    for answer in try notices?.answers() ?? [] {
      dialog.remove(answer.question)
      unconfirmed += 1
      connection?.send(.answer(question: answer.question, answer: answer.answer))
    }
  }

  /// Shows the first question, if it is another one.
  private mutating func show() throws {
    guard notices == nil, unconfirmed == 0, shown != dialog.question?.id else { return }
    if shown != nil { try write("\nthis question is withdrawn\n") }
    shown = dialog.question?.id
    guard let prompt = dialog.prompt else { return }
    if isTerminal, TerminalMode.isForeground {
      // What was typed before the question does not answer it.
      tcflush(STDIN_FILENO, TCIFLUSH)
      input.clear()
    }
    try write(prompt)
  }

  private mutating func takeLines() throws {
    while shown != nil, unconfirmed == 0, let line = input.take() {
      let text = String(decoding: line, as: UTF8.self)
      if !isTerminal { try write("\(text.printable)\n") }
      guard let answer = dialog.take(text) else {
        printError("beaconscan: '\(text)' is not an answer; \(dialog.requirement)")
        try write(dialog.prompt ?? "")
        continue
      }
      shown = nil
      unconfirmed = 1
      connection?.send(.answer(question: answer.question, answer: answer.answer))
    }
    guard shown != nil, unconfirmed == 0, input.isOver else { return }
    try write("\n")
    throw CommandError(
      .noInput,
      "standard input ended before an answer; run it in a terminal, or give it a line for "
        + "each question")
  }

  private func write(_ text: String) throws {
    try out.write(text)
    try out.flush()
  }

  private func report(_ sentence: String) {
    if !isQuiet { printError("beaconscan: \(sentence)") }
  }
}
