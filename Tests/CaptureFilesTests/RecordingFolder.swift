import CaptureFiles
import Foundation
import Scanning
import Synchronization
import TestSupport
import Testing

/// A directory that is gone when it is no longer used, and what is recorded in it.
final class RecordingFolder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "recording-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  subscript(name: String) -> String { url.appending(path: name).path }

  /// The names in it, in order.
  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted()
  }

  func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: url.appending(path: name)))
  }

  func write(_ bytes: [UInt8], _ name: String) throws {
    try Data(bytes).write(to: url.appending(path: name))
  }

  /// The minors of all beacons in all files, in the order of their names.
  func minors() throws -> [UInt16] {
    try names.flatMap { name in
      let reading = try Reading(path: self[name])
      #expect(reading.error == nil, "\(name)")
      return reading.minors
    }
  }
}

/// What a recorder remarks.
final class Remarks: Sendable {
  private let lines = Mutex<[String]>([])

  var all: [String] { lines.withLock { $0 } }

  var take: @Sendable (String) -> Void {
    { [self] line in lines.withLock { $0.append(line) } }
  }
}

extension WallClockTime {
  /// 2026-11-21T05:30:00.123Z and some seconds.
  static func recorded(_ seconds: Double = 0) -> WallClockTime {
    WallClockTime(nanoseconds: 1_795_239_000_123_456_789 + Int64(seconds * 1e9))
  }
}

extension CaptureRecorder {
  /// Records an iBeacon.
  func record(_ minor: UInt16, at time: WallClockTime, adapter: UInt16 = 0) {
    let packet = Adverts.h4(minor)
    unsafe record(packet.span.bytes, at: time, adapter: adapter)
  }
}

/// Another program.
enum Program {
  static func has(_ name: String) -> Bool {
    ["/usr/bin/", "/usr/local/bin/", "/bin/", "/usr/sbin/"].contains { folder in
      FileManager.default.isExecutableFile(atPath: folder + name)
    }
  }

  /// Runs a line of shell; its standard output.
  @discardableResult
  static func shell(_ line: String) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", line]
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    let run = try StartedProcess(process)
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    run.wait()
    try #require(run.status == 0, "\(line)")
    return String(decoding: output, as: UTF8.self)
  }
}
