import Clocks
import Glibc
import Logging
import SystemPackage

/// A RabbitMQ node that belongs to this process, beside the system's own one, with its data in a
/// directory.
///
/// The node accepts workers on the loopback interface, and receivers by MQTT on all interfaces; if
/// it accepts receivers with TLS, those without only on the loopback interface. RabbitMQ lets the
/// user guest in from this machine only.
final class EngineNode: Sendable {
  private static let programs = [
    "/usr/lib/rabbitmq/bin/rabbitmq-server", "/usr/bin/epmd",
  ]

  /// The port for receivers with TLS, and the whole paths of the node's certificate and its key.
  struct TLS {
    var port: UInt16
    var certificate: String
    var key: String
  }

  private let directory: String
  private let port: UInt16
  private let logger: Logger
  private let environment: [String]
  private let lock: FileDescriptor

  /// Writes the node's configuration.
  init(_ engine: EngineDirectory, mqttPort: UInt16, tls: TLS?, logger: Logger) throws {
    for program in Self.programs where unsafe access(program, X_OK) != 0 {
      throw FleetError(
        .unavailable,
        "the fleet's engine is RabbitMQ, and \(program) is missing; install it: apt-get install "
          + "rabbitmq-server")
    }
    directory = engine.path
    port = engine.port
    environment = engine.environment
    self.logger = logger
    if unsafe access(directory, F_OK) != 0 { try Files.makeDirectory(directory) }
    lock = try Self.lock(directory)
    Self.endFormer(directory)
    var ports = [("--engine-port", port), ("--mqtt-port", mqttPort)]
    if let tls { ports.append(("--mqtt-tls-port", tls.port)) }
    for (use, number) in ports {
      guard Self.isFree(number) else {
        throw FleetError(
          .unavailable, "the port \(number) is in use; give another one with \(use)")
      }
    }
    // By default, the newest 512 MiB of the queues' log are in memory too, as much as the node may have.
    var text = """
      listeners.tcp.1 = 127.0.0.1:\(port)
      mqtt.listeners.tcp.1 = \(tls == nil ? "0.0.0.0" : "127.0.0.1"):\(mqttPort)
      mqtt.exchange = amq.topic
      mqtt.allow_anonymous = false
      vm_memory_high_watermark.absolute = 512MB
      raft.wal_max_size_bytes = 64000000

      """
    if let tls {
      text += """
        mqtt.listeners.ssl.1 = 0.0.0.0:\(tls.port)
        ssl_options.certfile = \(tls.certificate)
        ssl_options.keyfile = \(tls.key)

        """
    }
    try Files.replace(Array(text.utf8), at: "\(directory)/rabbitmq.conf")
    try Files.replace(Array("[rabbitmq_mqtt].\n".utf8), at: "\(directory)/plugins")
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
        while !node.hasEnded(), !Task.isCancelled {
          try? await Task.sleep(for: .milliseconds(200))
        }
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

  private func start(_ arguments: [String]) throws -> ChildProcess {
    let log = FilePath("\(directory)/output")
    do {
      let none = try FileDescriptor.open(
        FilePath("/dev/null"), .readOnly, options: .closeOnExec)
      defer { try? none.close() }
      let output = try FileDescriptor.open(
        log, .writeOnly, options: [.create, .truncate, .closeOnExec],
        permissions: .ownerReadWrite)
      defer { try? output.close() }
      return try ChildProcess(
        arguments, environment: environment, input: none, output: output, inOwnGroup: true)
    } catch let error as Errno {
      throw FleetError(.cannotCreate, "cannot write \(log): \(error)")
    }
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
