import Glibc
import SystemPackage

/// A program that this process has started.
struct ChildProcess: Sendable, ~Copyable {
  /// The end of a program.
  struct Result {
    /// The exit status, or -1 if a signal ended the program.
    var status: Int32
    /// What the program wrote to its output and its error output.
    var output: String
  }

  let id: pid_t
  /// Whether it is reaped: its number may belong to another process then.
  private var isReaped = false

  /// Starts a program, the first of the arguments. An interrupt at the terminal does not end one
  /// in a group of its own.
  init(
    _ arguments: [String], environment: [String], input: FileDescriptor, output: FileDescriptor,
    inOwnGroup: Bool
  ) throws {
    var files = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    unsafe posix_spawn_file_actions_init(&files)
    unsafe posix_spawnattr_init(&attributes)
    defer {
      unsafe posix_spawn_file_actions_destroy(&files)
      unsafe posix_spawnattr_destroy(&attributes)
    }
    for (number, file) in [input, output, output].enumerated() {
      unsafe posix_spawn_file_actions_adddup2(&files, file.rawValue, Int32(number))
    }
    // Dispatch's threads block signals, and a program would inherit that.
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    unsafe sigfillset(&signals)
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    unsafe posix_spawnattr_setflags(
      &attributes,
      Int16(
        POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
          | (inOwnGroup ? POSIX_SPAWN_SETPGROUP : 0)))
    var process: pid_t = 0
    let path = arguments[0]
    let status = unsafe withStrings(arguments) { arguments in
      unsafe withStrings(environment) { environment in
        // The strings live until the call returns.
        unsafe posix_spawn(&process, path, &files, &attributes, arguments, environment)
      }
    }
    guard status == 0 else {
      throw FleetError(.unavailable, "cannot start \(path): \(Errno(rawValue: status))")
    }
    id = process
  }

  /// Runs a program that reads its whole input before it writes much.
  static func run(
    _ arguments: [String], environment: [String], input: [UInt8] = []
  ) throws -> Result {
    // A program that does not read its input must not end this process.
    signal(SIGPIPE, SIG_IGN)
    do {
      let (toRead, toWrite) = (try pipe(), try pipe())
      let process: ChildProcess
      do {
        defer {
          try? toRead.readEnd.close()
          try? toWrite.writeEnd.close()
        }
        process = try ChildProcess(
          arguments, environment: environment, input: toRead.readEnd, output: toWrite.writeEnd,
          inOwnGroup: false)
      }
      _ = try? toRead.writeEnd.closeAfter { try toRead.writeEnd.writeAll(input) }
      let output = try toWrite.readEnd.closeAfter { try Files.bytes(of: toWrite.readEnd) }
      var status: Int32 = 0
      while unsafe waitpid(process.id, &status, 0) < 0, errno == EINTR {}
      return Result(
        status: status & 0x7F == 0 ? status >> 8 & 0xFF : -1,
        output: String(decoding: output, as: UTF8.self))
    } catch let error as Errno {
      throw FleetError(.ioError, "cannot run \(arguments[0]): \(error)")
    }
  }

  /// Returns whether the process has ended.
  mutating func hasEnded() -> Bool {
    var status: Int32 = 0
    isReaped = unsafe isReaped || waitpid(id, &status, WNOHANG) != 0
    return isReaped
  }

  /// Waits for its end so many seconds, then ends it in order, or after more seconds by SIGKILL.
  mutating func end(seconds: Int, patience: Int = 0) {
    if hasEnded(within: patience) { return }
    kill(id, SIGTERM)
    if hasEnded(within: seconds) { return }
    kill(id, SIGKILL)
    while !hasEnded() { usleep(10_000) }
  }

  private mutating func hasEnded(within seconds: Int) -> Bool {
    for _ in 0..<seconds * 20 {
      if hasEnded() { return true }
      usleep(50_000)
    }
    return hasEnded()
  }

  /// A pipe whose ends programs do not inherit, so that the end of each is noticed.
  private static func pipe() throws -> (readEnd: FileDescriptor, writeEnd: FileDescriptor) {
    let pipe = try FileDescriptor.pipe()
    for end in [pipe.readEnd, pipe.writeEnd] { _ = fcntl(end.rawValue, F_SETFD, FD_CLOEXEC) }
    return pipe
  }
}

/// Calls a function with texts as C's array of strings, which ends with a null pointer.
private func withStrings<Result>(
  _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
  let strings = unsafe texts.map { unsafe strdup($0) }
  defer { unsafe strings.forEach { unsafe free($0) } }
  return unsafe body(strings + [nil])
}
