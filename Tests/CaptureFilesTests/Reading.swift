import Advertising
import CaptureFiles
import FoundationEssentials
import Scanning
import SystemPackage

/// A file that is gone when it is no longer used.
final class TemporaryFile {
  let path: String

  init(_ bytes: [UInt8] = []) throws {
    let url = FileManager.default.temporaryDirectory
      .appending(path: "capture-\(UUID().uuidString)")
    path = url.path
    try write(bytes)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  func write(_ bytes: [UInt8]) throws {
    try Data(bytes).write(to: URL(filePath: path))
  }

  /// Adds bytes at the end of the same file.
  func append(_ bytes: [UInt8]) throws {
    let file = try FileDescriptor.open(FilePath(path), .writeOnly, options: .append)
    try file.closeAfter { _ = try file.writeAll(bytes) }
  }
}

/// What came of reading a capture to its end.
struct Reading {
  var sightings: [Sighting] = []
  var error: CaptureError?
  var status: CaptureStatus

  /// Reads a file in this thread.
  init(path: String, packetTap: PacketTap? = nil) throws {
    let reader = try CaptureReader(path: path, packetTap: packetTap)
    var collector = SightingCollector()
    do throws(CaptureError) {
      while case .more = try reader.read(into: &collector) {}
    } catch {
      self.error = error
    }
    sightings = collector.sightings
    status = reader.status(collector.counts)
  }

  /// Reads bytes as a file.
  init(_ bytes: [UInt8], packetTap: PacketTap? = nil) throws {
    let file = try TemporaryFile(bytes)
    try self.init(path: file.path, packetTap: packetTap)
    withExtendedLifetime(file) {}
  }

  var minors: [UInt16] { sightings.map(\.beacon.minor) }
  var wallTimes: [Int64] { sightings.map(\.wallTime.nanoseconds) }
  var times: [Int64] { sightings.map(\.time.nanoseconds) }
  var counts: ScanCounts { status.counts }
}
