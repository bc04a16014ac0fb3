import CSpawn
package import Foundation
import Synchronization

/// A program that a test has started.
///
/// Foundation only describes it. `Process.run()` learns of the end through a socket, and a child that another thread
/// starts at the same moment inherits that socket, and the pipes: neither would then end before that child does.
package final class StartedProcess: Sendable {
  package let identifier: Int32
  private let ending = Ending()

  private final class Ending: Sendable {
    let status = Mutex<Int32?>(nil)
    let group = DispatchGroup()
  }

  /// Starts a program as Foundation would: in a process group of its own, and with no other open file than the
  /// three standard ones. No signal is blocked or ignored, whatever the threads of the tests do.
  package init(_ process: Process) throws {
    let (input, output, error) = (
      process.standardInput, process.standardOutput, process.standardError
    )
    var files = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    var none = sigset_t()
    var all = sigset_t()
    // The structures outlive the calls.
    unsafe posix_spawn_file_actions_init(&files)
    unsafe posix_spawnattr_init(&attributes)
    defer {
      unsafe posix_spawn_file_actions_destroy(&files)
      unsafe posix_spawnattr_destroy(&attributes)
    }
    for (number, file) in [(0, input), (1, output), (2, error)] {
      guard let descriptor = Self.childEnd(file, isInput: number == 0) else { continue }
      unsafe posix_spawn_file_actions_adddup2(&files, descriptor, Int32(number))
    }
    unsafe posix_spawn_file_actions_addclosefrom_np(&files, 3)
    if let folder = process.currentDirectoryURL {
      unsafe posix_spawn_file_actions_addchdir_np(&files, folder.path)
    }
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setflags(
      &attributes,
      Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))

    let path = process.executableURL?.path ?? ""
    let variables = process.environment ?? ProcessInfo.processInfo.environment
    let texts = [[path] + (process.arguments ?? []), variables.map { "\($0)=\($1)" }]
    // As C has them: an array of pointers that ends with a null.
    let lists = unsafe texts.map { unsafe $0.map { unsafe strdup($0) } + [nil] }
    defer { unsafe lists.joined().forEach { unsafe free($0) } }
    var identifier: pid_t = 0
    let status = unsafe posix_spawn(
      &identifier, path, &files, &attributes, lists[0], lists[1])
    guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: status) ?? .ENOENT) }
    self.identifier = identifier
    ending.group.enter()
    // The child's ends of pipes are the child's alone.
    try (input as? Pipe)?.fileHandleForReading.close()
    try (output as? Pipe)?.fileHandleForWriting.close()
    if let pipe = error as? Pipe, pipe !== output as? Pipe {
      try pipe.fileHandleForWriting.close()
    }
    // The only thread that takes the status.
    Thread.detachNewThread { [identifier, ending] in
      var status: Int32 = 0
      while unsafe waitpid(identifier, &status, 0) == -1, errno == EINTR {}
      // As `WIFEXITED` and its like read it, which the importer drops.
      let (signal, code) = (status & 0x7F, status >> 8 & 0xFF)
      ending.status.withLock { $0 = signal == 0 ? code : 128 + signal }
      ending.group.leave()
    }
  }

  /// The descriptor that a child gets of what `Process` names; `nil` for that of the tests.
  private static func childEnd(_ file: Any?, isInput: Bool) -> Int32? {
    switch file {
    case let pipe as Pipe:
      (isInput ? pipe.fileHandleForReading : pipe.fileHandleForWriting).fileDescriptor
    case let handle as FileHandle: handle.fileDescriptor
    default: nil
    }
  }

  package var isRunning: Bool { ending.status.withLock { $0 == nil } }

  /// Its status, or 128 and the signal that ended it, once ``wait(limit:)`` has returned `true`; -1 before.
  package var status: Int32 { ending.status.withLock { $0 ?? -1 } }

  /// Waits for its end, at most for a number of seconds.
  ///
  /// - Returns: Whether it has ended.
  @discardableResult
  package func wait(limit: Double = .infinity) -> Bool {
    let until = limit.isFinite ? DispatchTime.now() + limit : .distantFuture
    return ending.group.wait(timeout: until) == .success
  }
}
