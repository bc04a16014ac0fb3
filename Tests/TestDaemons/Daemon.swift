import Foundation
import Synchronization
import TestSupport
package import Testing

extension Trait where Self == ConditionTrait {
  /// Tests that need daemons of the system are skipped where those are not installed.
  package static var daemons: Self {
    .enabled(if: Daemon.areInstalled, "daemons are missing; install them: Scripts/setup.sh --ci")
  }
}

/// A daemon that a test starts: one of those that `Scripts/setup.sh --ci` installs.
package final class Daemon {
  private let process: StartedProcess

  package init(_ arguments: [String], environment: [String: String] = [:], log: String? = nil)
    throws
  {
    let process = Process()
    process.executableURL = URL(filePath: arguments[0])
    process.arguments = Array(arguments.dropFirst())
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    if let log {
      _ = FileManager.default.createFile(atPath: log, contents: nil)
      process.standardError = FileHandle(forWritingAtPath: log)
      process.standardOutput = process.standardError
    }
    guard FileManager.default.isExecutableFile(atPath: arguments[0]) else {
      throw NoDaemon(program: arguments[0])
    }
    self.process = try StartedProcess(process)
  }

  fileprivate static let areInstalled = [
    "/usr/sbin/gpsd", "/usr/bin/gpsfake", "/usr/libexec/geoclue", "/usr/bin/umockdev-wrapper",
  ].allSatisfy(FileManager.default.isExecutableFile)

  package struct NoDaemon: Error, CustomStringConvertible {
    package var program: String
    package var description: String { "\(program) is missing; install it: Scripts/setup.sh --ci" }
  }

  deinit { kill() }

  package var isRunning: Bool { process.isRunning }

  /// The processes that it has started.
  package var children: [Int32] {
    let pid = process.identifier
    let text = try? String(contentsOfFile: "/proc/\(pid)/task/\(pid)/children", encoding: .utf8)
    return (text ?? "").split(separator: " ").compactMap { Int32($0) }
  }

  /// Stops it until ``resume()``: it neither reads nor answers.
  package func pause() { Foundation.kill(process.identifier, SIGSTOP) }
  package func resume() { Foundation.kill(process.identifier, SIGCONT) }

  /// Makes it read its configuration again, where it does that on SIGHUP.
  package func reload() { Foundation.kill(process.identifier, SIGHUP) }

  /// Asks it to end by a signal, and waits until it has.
  package func end(by signal: Int32 = SIGTERM) {
    Foundation.kill(process.identifier, signal)
    process.wait()
  }

  /// Ends it and what it has started as the kernel does.
  package func kill() {
    let children = children
    if process.isRunning { Foundation.kill(process.identifier, SIGKILL) }
    for child in children { Foundation.kill(child, SIGKILL) }
    process.wait()
    // A port is free again when its owner is gone.
    for child in children { _ = eventually { Foundation.kill(child, 0) != 0 } }
  }
}

/// Runs a program to its end, and returns its output.
@discardableResult package func runTool(_ arguments: [String]) throws -> String {
  let process = Process()
  process.executableURL = URL(filePath: arguments[0])
  process.arguments = Array(arguments.dropFirst())
  let output = Pipe()
  process.standardOutput = output
  process.standardError = FileHandle.nullDevice
  let run = try StartedProcess(process)
  let text = try output.fileHandleForReading.readToEnd() ?? Data()
  run.wait()
  try #require(run.status == 0, "\(arguments)")
  return String(decoding: text, as: UTF8.self)
}

/// Returns a TCP port of this machine that nothing uses, each time another one. The system gives it to nobody: a daemon
/// that is started again has it again, and a client that connects meanwhile does not reach itself.
package func freePort() throws -> UInt16 {
  for _ in ports {
    let next = nextPort.wrappingAdd(1, ordering: .relaxed).newValue
    let port = ports.lowerBound + next % UInt16(ports.count)
    if isFree(port) { return port }
  }
  throw POSIXError(.EADDRINUSE)
}

/// The system chooses from 32768 on, and Tests/Checks/rabbitmq.py from 21000 on.
private let ports: Range<UInt16> = 10_000..<21_000
/// Other runs of the tests begin elsewhere.
private let nextPort = Atomic(UInt16.random(in: 0..<UInt16(ports.count)))

private func isFree(_ port: UInt16) -> Bool {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  defer { close(descriptor) }
  var name = sockaddr_in()
  name.sin_family = sa_family_t(AF_INET)
  name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  name.sin_port = port.bigEndian
  // The structure outlives the call.
  return unsafe withUnsafePointer(to: &name) { pointer in
    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
    }
  } == 0
}

/// A server on a Unix socket that does as the test says.
package final class FakeServer {
  private let listener: Int32
  private var connection: Int32 = -1

  package init(at path: String) throws {
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < 108 else { throw POSIXError(.ENAMETOOLONG) }
    // The structure outlives the calls.
    unsafe withUnsafeMutableBytes(of: &name.sun_path) { unsafe $0.copyBytes(from: bytes) }
    unsafe unlink(path)
    let result = unsafe withUnsafePointer(to: &name) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0, listen(listener, 8) == 0 else { throw POSIXError(.EADDRINUSE) }
  }

  deinit {
    hangUp()
    close(listener)
  }

  /// Waits for a connection, which is begun already or will be.
  package func accept() { connection = Glibc.accept(listener, nil, nil) }

  /// Takes a connection that waits; returns whether there was one.
  package func acceptIfAny() -> Bool {
    var entry = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
    // The entry outlives the call.
    guard unsafe poll(&entry, 1, 0) == 1 else { return false }
    accept()
    return true
  }

  /// Returns whether the client is there.
  @discardableResult
  package func send(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    // The bytes outlive the call.
    return unsafe Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
  }

  /// Handed over to the thread that uses it.
  package struct Unchecked: @unchecked Sendable {
    let value: FakeServer
  }

  /// What the client has sent; empty at the end of the connection, `nil` where nothing has come.
  package func receive() -> String? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    // The buffer outlives the call.
    let count = unsafe recv(connection, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
  }

  package func hangUp() {
    if connection >= 0 { close(connection) }
    connection = -1
  }
}
