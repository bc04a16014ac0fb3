import Foundation
package import TestSupport

/// Returns a sentence of NMEA 0183 with its beginning, checksum and end.
package func nmeaLine(_ text: String) -> String {
  let sum = text.utf8.reduce(0, ^)
  return "$\(text)*\(sum < 16 ? "0" : "")\(String(sum, radix: 16, uppercase: true))\r\n"
}

extension Daemon {
  /// Plays a log again and again to a gpsd, with so many seconds from one sentence to the next.
  package static func gpsfake(
    _ log: String, on port: UInt16, cycle: Double = 0.01, output: String
  ) throws -> Daemon {
    try Daemon(
      ["/usr/bin/gpsfake", "-q", "-n", "-c", "\(cycle)", "-P", "\(port)", log], log: output)
  }
}

/// A gpsd, and receivers that send to it by UDP.
package final class GPSDDaemon {
  private let daemon: Daemon
  private let controlPath: String
  private let sender = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)

  /// Starts a gpsd without receivers.
  package init(on port: UInt16, in scratch: Scratch) throws {
    controlPath = scratch["control"]
    daemon = try Daemon(["/usr/sbin/gpsd", "-N", "-S", "\(port)", "-F", controlPath])
  }

  deinit { close(sender) }

  package func pause() { daemon.pause() }
  package func resume() { daemon.resume() }
  package func kill() { daemon.kill() }

  /// Adds the receiver that sends to a port, or removes it.
  package func add(_ port: UInt16) throws {
    // The control socket has its name before it accepts connections.
    guard eventually({ (try? control("add", port)) != nil }) else { throw Refused() }
  }
  package func remove(_ port: UInt16) throws { try control("remove", port) }

  private func control(_ command: String, _ port: UInt16) throws {
    guard eventually({ FileManager.default.fileExists(atPath: controlPath) }) else {
      throw Daemon.NoDaemon(program: "/usr/sbin/gpsd")
    }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/sbin/gpsdctl")
    process.arguments = [command, "udp://127.0.0.1:\(port)"]
    // Without a connection, gpsdctl starts a gpsd of its own on that socket if it finds the program.
    process.environment = ["GPSD_SOCKET": controlPath, "PATH": "/"]
    process.standardError = FileHandle.nullDevice
    let started = try StartedProcess(process)
    started.wait()
    guard started.status == 0 else { throw Refused() }
  }

  private struct Refused: Error {}

  /// Sends sentences to a receiver's port, each as a datagram.
  package func send(_ sentences: [String], to port: UInt16) {
    for sentence in sentences {
      let bytes = Array(nmeaLine(sentence).utf8)
      var name = sockaddr_in()
      name.sin_family = sa_family_t(AF_INET)
      name.sin_port = port.bigEndian
      name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      // The structures outlive the call.
      _ = unsafe withUnsafePointer(to: &name) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe sendto(
            sender, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
    }
  }
}
