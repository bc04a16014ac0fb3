import FoundationEssentials
import Glibc
import Records
import SystemPackage

/// A command of the user's that is run on an event, by `/bin/sh -c`.
struct EventCommand {
  /// What the shell is given.
  let script: String

  /// Runs it to its end, with the event on its standard input and in its environment. Its standard output goes to
  /// our standard error: ours is for events alone.
  ///
  /// - Returns: What went wrong.
  func run(on event: MonitorEvent) -> String? {
    var line: [UInt8] = []
    event.record.appendLine(event, to: &line)
    do {
      let input = try FileDescriptor.pipe()
      let process = try input.writeEnd.closeAfter {
        let process = try input.readEnd.closeAfter { try start(on: event, reading: input) }
        // A command that does not read is no failure: SIGPIPE is ignored.
        _ = try? input.writeEnd.writeAll(line)
        return process
      }
      return try wait(for: process)
    } catch {
      return "the command cannot be run (\(error))"
    }
  }

  private func environment(of event: MonitorEvent) -> [String] {
    var environment = ProcessInfo.processInfo.environment
    // What is not known is not there, also if we were run by such a command ourselves.
    for (name, value) in zip(EventLine.record.csvHeader, EventLine.record.csvRow(event)) {
      environment["BEACONSCAN_" + name.uppercased()] = value.text
    }
    return environment.map { "\($0)=\($1)" }
  }

  private func start(
    on event: MonitorEvent, reading input: (readEnd: FileDescriptor, writeEnd: FileDescriptor)
  ) throws -> pid_t {
    var files = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    // All that is passed outlives the calls. Ignored and blocked signals would be inherited.
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
    let result = unsafe withCStrings(["sh", "-c", script]) { arguments in
      unsafe withCStrings(environment(of: event)) { environment in
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
    // As `WIFEXITED` and its like read it, which the importer drops.
    let (signal, code) = (status & 0x7F, status >> 8 & 0xFF)
    if signal == 0 { return code == 0 ? nil : "the command ended with status \(code)" }
    // The interrupt was meant for it too.
    if Interrupt.isRequested, signal == SIGINT || signal == SIGTERM { return nil }
    return "the command was ended by signal \(signal)"
  }
}

/// Gives a body texts as C has them: an array of pointers that ends with a null.
@unsafe
private func withCStrings<Result>(
  _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
  let copies = unsafe texts.map { unsafe strdup($0) }
  defer { unsafe copies.forEach { unsafe free($0) } }
  return unsafe body(copies + [nil])
}
