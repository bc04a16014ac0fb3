import CaptureFiles
import Foundation
import TestSupport
import Testing

/// Compressed captures, made by gzip itself.
@Suite(.blocking) struct GzipTests {
  /// Runs gzip over bytes.
  private func gzip(_ bytes: [UInt8], level: Int = 6) throws -> [UInt8] {
    let file = try TemporaryFile(bytes)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["gzip", "-c", "-n", "-\(level)", file.path]
    let output = Pipe()
    process.standardOutput = output
    let run = try StartedProcess(process)
    let compressed = try output.fileHandleForReading.readToEnd() ?? Data()
    run.wait()
    try #require(run.status == 0)
    return [UInt8](compressed)
  }

  private static func capture(_ count: UInt16) -> [UInt8] {
    BTSnoopFile.header()
      + (0..<count).flatMap { BTSnoopFile.record(Adverts.h4($0), microseconds: Int64($0)) }
  }

  @Test(arguments: [1, 6, 9], [1, 50, 20_000] as [UInt16])
  func readsWhatWasCompressed(level: Int, count: UInt16) throws {
    let plain = Self.capture(count)
    let compressed = try gzip(plain, level: level)
    let reading = try Reading(compressed)
    #expect(reading.error == nil)
    let isSame = try Reading(plain).sightings == reading.sightings
    #expect(isSame && reading.sightings.count == Int(count))
    #expect(reading.status.bytesRead == compressed.count)
    #expect(reading.status.formatName == "btsnoop, link type 187 (Bluetooth HCI H4)")
  }

  /// Members one behind the other are one file, wherever they were parted; what follows the last and
  /// is no gzip is passed over.
  @Test(arguments: [1, 8, 16, 20, 100, 1000])
  func members(place: Int) throws {
    let plain = Self.capture(40)
    let compressed =
      try gzip(Array(plain.prefix(place))) + gzip([]) + gzip(Array(plain.dropFirst(place)))
    for tail in [[], [0], [UInt8](repeating: 0, count: 512)] {
      let reading = try Reading(compressed + tail)
      #expect(reading.error == nil)
      #expect(reading.minors == Array(0..<40))
    }
  }

  /// Every cut: the sightings are a prefix, and the error has an offset.
  @Test func everyCut() throws {
    let compressed = try gzip(Self.capture(5))
    let file = try TemporaryFile()
    for cut in 2..<compressed.count {
      try file.write(Array(compressed.prefix(cut)))
      let reading = try Reading(path: file.path)
      #expect(Array(0..<5).starts(with: reading.minors), "cut at \(cut)")
      let error = try #require(reading.error, "cut at \(cut)")
      #expect(error.problem == .badGzip("the gzip data ends too early"), "cut at \(cut)")
      #expect(error.offset == cut)
      #expect(error.description.contains("damaged or cut short"))
    }
    // All is there but the member's checksum and length.
    #expect(try Reading(Array(compressed.dropLast(8))).minors == Array(0..<5))
  }

  @Test func damage() throws {
    var compressed = try gzip(Self.capture(5))
    compressed[compressed.count - 6] ^= 1  // the checksum
    let reading = try Reading(compressed)
    #expect(reading.minors == Array(0..<5))
    guard case .badGzip? = reading.error?.problem else {
      Issue.record("\(String(describing: reading.error))")
      return
    }
    #expect(try Reading([0x1F, 0x8B, 0xFF, 0, 0, 0, 0, 0, 0, 0]).error != nil)
  }

  /// A capture that was itself cut short, compressed: the offset counts decompressed bytes.
  @Test func aCutCaptureInside() throws {
    let plain = Self.capture(3)
    let reading = try Reading(try gzip(Array(plain.dropLast(10))))
    #expect(reading.minors == [0, 1])
    guard case .cutShort("record", _, _)? = reading.error?.problem else {
      Issue.record("\(String(describing: reading.error))")
      return
    }
    #expect(reading.error?.offset == Self.capture(2).count)
  }

  @Test func compressedNothings() throws {
    #expect(try Reading(try gzip([])).error?.problem == .empty)
    #expect(try Reading(try gzip(Array("hello, world".utf8))).error?.problem == .notACapture)
  }
}
