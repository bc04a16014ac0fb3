import Clocks
import Glibc
import Logging
import SystemPackage

/// A RabbitMQ node that belongs to this process, beside the system's own one, with its data in a
/// directory.
///
/// The node accepts workers on the loopback interface, and receivers by MQTT on all interfaces.
/// RabbitMQ lets the user guest in from this machine only.
final class EngineNode: Sendable {
  private static let programs = [
    "/usr/lib/rabbitmq/bin/rabbitmq-server", "/usr/bin/epmd",
  ]

  private let directory: String
  private let port: UInt16
  private let logger: Logger
  private let environment: [String]
  private let lock: FileDescriptor

  /// Writes the node's configuration. The two ports after that of the workers are Erlang's.
  init(_ directory: String, port: UInt16, mqttPort: UInt16, logger: Logger) throws {
    for program in Self.programs where unsafe access(program, X_OK) != 0 {
      throw FleetError(
        .unavailable,
        "the fleet's engine is RabbitMQ, and \(program) is missing; install it: apt-get install "
          + "rabbitmq-server")
    }
    self.directory = directory
    self.port = port
    self.logger = logger
    if unsafe access(directory, F_OK) != 0 { try Files.makeDirectory(directory) }
    lock = try Self.lock(directory)
    Self.endFormer(directory)
    for (use, number) in [("--engine-port", port), ("--mqtt-port", mqttPort)] {
      guard Self.isFree(number) else {
        throw FleetError(
          .unavailable, "the port \(number) is in use; give another one with \(use)")
      }
    }
    let text = """
      listeners.tcp.1 = 127.0.0.1:\(port)
      mqtt.listeners.tcp.1 = 0.0.0.0:\(mqttPort)
      mqtt.exchange = amq.topic
      mqtt.allow_anonymous = false
      vm_memory_high_watermark.absolute = 512MB

      """
    try Files.replace(Array(text.utf8), at: "\(directory)/rabbitmq.conf")
    try Files.replace(Array("[rabbitmq_mqtt].\n".utf8), at: "\(directory)/plugins")
    environment = [
      "PATH=/usr/lib/rabbitmq/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
      "HOME=\(directory)", "ERL_EPMD_PORT=\(port + 1)", "RABBITMQ_NODENAME=fleet@localhost",
      "RABBITMQ_NODE_PORT=\(port)", "RABBITMQ_DIST_PORT=\(port + 2)",
      "RABBITMQ_CONFIG_FILE=\(directory)/rabbitmq.conf", "RABBITMQ_MNESIA_BASE=\(directory)/data",
      "RABBITMQ_LOG_BASE=\(directory)/log", "RABBITMQ_PID_FILE=\(directory)/pid",
      "RABBITMQ_ENABLED_PLUGINS_FILE=\(directory)/plugins",
      // The threads do not wait actively for work.
      "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+sbwt none +sbwtdcpu none +sbwtdio none "
        + "-kernel inet_dist_use_interface {127,0,0,1}",
      // The script becomes the node, in place of its parent.
      "RUNNING_UNDER_SYSTEMD=true",
    ]
  }

  /// Runs the node until the task is canceled, and starts it again if it ends.
  func run() async {
    var backoff = Backoff(first: 1_000_000_000, longest: 30_000_000_000)
    while !Task.isCancelled {
      let began = MonotonicTime.now
      do {
        // A name server that an earlier process has left knows no node any more.
        var former = try start(["/usr/bin/epmd", "-port", "\(port + 1)", "-kill"])
        former.end(seconds: 0, patience: 5)
        var names = try start([
          "/usr/bin/epmd", "-address", "127.0.0.1", "-port", "\(port + 1)",
          "-relaxed_command_check",
        ])
        defer { names.end(seconds: 2) }
        var node = try start([Self.programs[0]])
        defer { node.end(seconds: 20) }
        logger.info("starts RabbitMQ; its log is in \(directory)/log")
        while !node.look(), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(200)) }
      } catch {
        logger.error("\(error)")
      }
      guard !Task.isCancelled else { return }
      if MonotonicTime.now.seconds(since: began) > 60 { backoff.reset() }
      let pause = backoff.next()
      logger.error("RabbitMQ has ended, and starts again in \(pause / 1_000_000_000) s")
      try? await Task.sleep(for: .nanoseconds(pause))
    }
  }

  /// Waits until the node accepts workers, or the task is canceled.
  func waitUntilReady() async {
    while Self.isFree(port), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(200)) }
  }

  private func start(_ arguments: [String]) throws -> Child {
    var files = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    unsafe posix_spawn_file_actions_init(&files)
    unsafe posix_spawnattr_init(&attributes)
    defer {
      unsafe posix_spawn_file_actions_destroy(&files)
      unsafe posix_spawnattr_destroy(&attributes)
    }
    let log = "\(directory)/output"
    unsafe posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_addopen(&files, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    unsafe posix_spawn_file_actions_adddup2(&files, 1, 2)
    // An interrupt at the terminal ends this process, which ends the node in order.
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    // This may be a thread that takes no signals.
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    unsafe sigfillset(&signals)
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    unsafe posix_spawnattr_setflags(
      &attributes,
      Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    var process: pid_t = 0
    let path = arguments[0]
    let status = unsafe withStrings(arguments) { arguments in
      unsafe withStrings(environment) { environment in
        // The strings live until the call returns.
        unsafe posix_spawn(&process, path, &files, &attributes, arguments, environment)
      }
    }
    guard status == 0 else {
      throw FleetError(
        .unavailable, "cannot start \(arguments[0]): \(Errno(rawValue: status))")
    }
    return Child(process: process)
  }

  deinit { try? lock.close() }

  /// Locks the directory for this process.
  private static func lock(_ directory: String) throws -> FileDescriptor {
    let file = try FileDescriptor.open(
      FilePath("\(directory)/lock"), .readWrite, options: [.create, .closeOnExec],
      permissions: [.ownerReadWrite])
    guard flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 else {
      try file.close()
      throw FleetError(
        .unavailable, "another beaconscan-fleet up uses \(directory); end it, or use another one")
    }
    return file
  }

  /// Ends the node of a process that was killed before it could.
  private static func endFormer(_ directory: String) {
    guard let text = try? Files.bytes("\(directory)/pid"),
      let node = pid_t(String(decoding: text.prefix { (0x30...0x39).contains($0) }, as: UTF8.self)),
      let command = try? Files.bytes("/proc/\(node)/cmdline"),
      String(decoding: command, as: UTF8.self).contains(directory)
    else { return }
    kill(node, SIGTERM)
    for attempt in 0..<100 where kill(node, 0) == 0 {
      if attempt == 99 { kill(node, SIGKILL) }
      usleep(100_000)
    }
  }

  private static func isFree(_ port: UInt16) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return true }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    // The address lives until the call returns.
    return unsafe withUnsafePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size)) != 0
      }
    }
  }
}

/// A process that this one has started, until it is reaped.
private struct Child {
  private let process: pid_t
  private var hasEnded = false

  init(process: pid_t) { self.process = process }

  /// Returns whether it has ended.
  mutating func look() -> Bool {
    var status: Int32 = 0
    hasEnded = unsafe hasEnded || waitpid(process, &status, WNOHANG) != 0
    return hasEnded
  }

  /// Waits for its end so many seconds, then ends it in order, or after more seconds by SIGKILL.
  mutating func end(seconds: Int, patience: Int = 0) {
    if hasEnded(within: patience) { return }
    kill(process, SIGTERM)
    if hasEnded(within: seconds) { return }
    kill(process, SIGKILL)
    while !look() { usleep(10_000) }
  }

  private mutating func hasEnded(within seconds: Int) -> Bool {
    for _ in 0..<seconds * 20 {
      if look() { return true }
      usleep(50_000)
    }
    return look()
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
