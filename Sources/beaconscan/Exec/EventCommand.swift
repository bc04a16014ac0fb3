import Advertising
import FoundationEssentials
import Glibc
import Ranging
import Records
import SystemPackage

struct HookEvent: Sendable {
  let line: [UInt8]
  let variables: [(name: String, value: String?)]
  let title: String

  private init<Value>(
    _ value: Value, _ record: RecordType<Value>, row: RecordType<Value>, title: String
  ) {
    line = record.json(value) + [UInt8(ascii: "\n")]
    variables = zip(row.csvHeader, row.csvRow(value)).map { (Self.variableName($0), $1.text) }
    self.title = title
  }

  private static func variableName(_ column: String) -> String {
    "BEACONSCAN_" + column.uppercased()
  }

  /// The variables of all events, including those of beacons with names.
  static let variableNames = Set(
    (EventLine.everyColumn.csvHeader + ZoneChange.row().csvHeader + ["name"]).map(variableName))

  init(_ event: MonitorEvent) {
    self.init(
      event, event.record, row: EventLine.everyColumn,
      title: "\(event.kind.rawValue) of '\(event.region)', \(event.time)")
  }

  init(_ change: ZoneChange) {
    let beacon = change.beacon.beacon
    self.init(
      change, change.record, row: ZoneChange.row(),
      title: "\(change.kind.rawValue) of \(beacon.major):\(beacon.minor), \(change.time)")
  }
}

struct EventCommand {
  let script: String

  /// Runs the command to its end, and returns the error, if any. Its standard output goes to
  /// standard error here, since standard output is for events only.
  func run(on event: HookEvent) -> String? {
    var environment = ProcessInfo.processInfo.environment
    // An unknown value removes a variable that this process may have inherited.
    for (name, value) in event.variables { environment[name] = value }
    return run(["sh", "-c", script], environment, input: event.line)
  }

  /// Throws `CommandError` if the shell does not find the script's first command, which is checked
  /// only if it is a plain word.
  func check() throws {
    guard let word = firstWord else { return }
    let search = ["sh", "-c", "command -v \"$1\" >/dev/null 2>&1", "sh", word]
    guard run(search, ProcessInfo.processInfo.environment, input: []) != nil else { return }
    throw CommandError(
      .usage,
      "--exec: there is no command '\(word)'; give the path of a program, or a command that the "
        + "shell finds")
  }

  /// The script's first word, or `nil` if it is not plain, such as an assignment or a function.
  private var firstWord: String? {
    let spaces: Set<Character> = [" ", "\t", "\n"]
    let text = script.drop { spaces.contains($0) }
    let word = text.prefix { !spaces.contains($0) && !";|&<>()".contains($0) }
    let isPlain = word.allSatisfy { character in
      !character.isASCII || character.isLetter || character.isNumber
        || "._/+-@%:,".contains(character)
    }
    let isFunction = text[word.endIndex...].drop { spaces.contains($0) }.first == "("
    return isPlain && !word.isEmpty && !isFunction ? String(word) : nil
  }

  private func run(
    _ arguments: [String], _ environment: [String: String], input line: [UInt8]
  ) -> String? {
    do {
      let input = try FileDescriptor.pipe()
      let process = try input.writeEnd.closeAfter {
        let process = try input.readEnd.closeAfter {
          try start(arguments, environment.map { "\($0)=\($1)" }, reading: input)
        }
        // The command may end without reading. SIGPIPE is ignored.
        _ = try? input.writeEnd.writeAll(line)
        return process
      }
      return try wait(for: process)
    } catch {
      return "the command cannot be run (\(error))"
    }
  }

  private func start(
    _ arguments: [String], _ environment: [String],
    reading input: (readEnd: FileDescriptor, writeEnd: FileDescriptor)
  ) throws -> pid_t {
    var files = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    // All arguments outlive the calls. The command must not inherit ignored and blocked signals.
    unsafe posix_spawn_file_actions_init(&files)
    unsafe posix_spawnattr_init(&attributes)
    defer {
      unsafe posix_spawn_file_actions_destroy(&files)
      unsafe posix_spawnattr_destroy(&attributes)
    }
    unsafe posix_spawn_file_actions_addclose(&files, input.writeEnd.rawValue)
    unsafe posix_spawn_file_actions_adddup2(&files, input.readEnd.rawValue, STDIN_FILENO)
    unsafe posix_spawn_file_actions_addclose(&files, input.readEnd.rawValue)
    unsafe posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO)
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    unsafe sigaddset(&signals, SIGPIPE)
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    var process = pid_t()
    let result = unsafe withCStrings(arguments) { arguments in
      unsafe withCStrings(environment) { environment in
        unsafe posix_spawn(&process, "/bin/sh", &files, &attributes, arguments, environment)
      }
    }
    guard result == 0 else { throw Errno(rawValue: result) }
    return process
  }

  private func wait(for process: pid_t) throws -> String? {
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) == -1 {
      guard errno == EINTR else { throw Errno(rawValue: errno) }
    }
    // The importer drops `WIFEXITED` and the like.
    let (signal, code) = (status & 0x7F, status >> 8 & 0xFF)
    if signal == 0 { return code == 0 ? nil : "the command ended with status \(code)" }
    // The interrupt reached the command too.
    if Interrupt.isRequested, signal == SIGINT || signal == SIGTERM { return nil }
    return "the command was ended by signal \(signal)"
  }
}

@unsafe
private func withCStrings<Result>(
  _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
  let copies = unsafe texts.map { unsafe strdup($0) }
  defer { unsafe copies.forEach { unsafe free($0) } }
  return unsafe body(copies + [nil])
}
