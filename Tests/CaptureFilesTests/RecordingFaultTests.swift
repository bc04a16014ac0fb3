import Foundation
import Glibc
import Scanning
import SystemPackage
import TestSupport
import Testing

@testable import CaptureFiles

/// A disk that is full, gone, or cannot be written to.
@Suite(.blocking) struct RecordingFaultTests {
  /// A batch of beacons.
  private func batch(_ minors: Range<UInt16>, adapter: UInt16 = 0) -> PacketBuffer {
    var batch = PacketBuffer()
    for minor in minors {
      let packet = Adverts.h4(minor)
      unsafe batch.append(
        packet.span.bytes, at: .recorded(Double(minor)), isReceived: true, adapter: adapter)
    }
    return batch
  }

  /// A file system of a few pages.
  private final class SmallDisk {
    let folder: RecordingFolder
    static let isPossible = getuid() == 0 && (try? SmallDisk()) != nil

    init(bytes: Int = 16384) throws {
      folder = try RecordingFolder()
      try Program.shell("mount -t tmpfs -o size=\(bytes) none '\(folder.url.path)'")
    }

    /// Takes so many bytes of it away, or all that there are.
    func fill(_ bytes: Int) throws {
      try Program.shell("head -c \(bytes) /dev/zero >'\(folder["ballast"])' 2>/dev/null || true")
    }

    func free() throws {
      try Program.shell("rm -f '\(folder["ballast"])'")
    }

    /// Whether nothing takes a page of it. A removed file does while a program still has it open.
    var isEmpty: Bool {
      var use = statvfs()
      return unsafe statvfs(folder.url.path, &use) == 0 && use.f_bfree == use.f_blocks
    }

    deinit {
      _ = try? Program.shell("umount -l '\(folder.url.path)'")
    }
  }

  /// The disk fills in the middle of a batch, is freed, and fills again: whole packets alone stand in the
  /// file, in order; the rest is counted; each fault is said once.
  @Test(
    .enabled(if: SmallDisk.isPossible, "a file system that fills can be mounted by root alone"),
    arguments: CaptureWriter.Format.allCases, [false, true])
  func aFullDisk(format: CaptureWriter.Format, isRotated: Bool) throws {
    let disk = try SmallDisk()
    let folder = disk.folder
    let remarks = Remarks()
    var configuration = RecordingConfiguration(path: folder["a"], format: format)
    if isRotated { configuration.maximumBytes = 5000 }
    var series = try RecordingSeries.begin(configuration, at: .recorded(), remark: remarks.take)
    try disk.fill(8192)
    var next: UInt16 = 0
    func write(_ count: UInt16, adapter: UInt16 = 0) {
      series.write(batch(next..<(next + count), adapter: adapter))
      next += count
    }
    func minors() throws -> [UInt16] {
      try folder.names.filter { $0 != "ballast" }.flatMap { name in
        let reading = try Reading(path: folder[name])
        // Of a file that could be made and not begun there is nothing.
        #expect(reading.error == nil || reading.error?.problem == .empty, "\(reading.error!)")
        return reading.minors
      }
    }
    for _ in 0..<20 { write(15, adapter: next / 100) }
    let first = series.status
    #expect(first.lost > 0 && first.packets > 50 && first.packets + first.lost == 300)
    #expect(remarks.all.count == 1, "\(remarks.all)")
    #expect(remarks.all.first?.contains("make room there") == true)
    #expect(try minors().count == first.packets)
    // There is room again.
    try disk.free()
    for _ in 0..<12 { write(2, adapter: 9) }
    #expect(series.status.lost == first.lost && series.status.packets == first.packets + 24)
    #expect(remarks.all.count == 2, "\(remarks.all)")
    #expect(
      remarks.all.last?.hasSuffix("recording goes on; \(first.lost) packets were lost so far")
        == true)
    #expect(series.status.failure == nil)
    #expect(try Array(minors().suffix(24)) == Array((next - 24)..<next))
    // And full again.
    for _ in 0..<20 { write(50) }
    #expect(remarks.all.count == 3, "\(remarks.all)")
    series.finish()
    let status = series.status
    #expect(status.packets + status.lost == Int(next))
    let heard = try minors()
    #expect(heard.count == status.packets && heard == heard.sorted())
    #expect(Set(heard).count == heard.count)
  }

  /// Until something is removed there is no room for a single file.
  @Test(.enabled(if: SmallDisk.isPossible, "a file system that fills can be mounted by root alone"))
  func aDiskThatIsFullFromTheBeginning() throws {
    let disk = try SmallDisk()
    let folder = disk.folder
    try disk.fill(100_000)
    for format in CaptureWriter.Format.allCases {
      let remarks = Remarks()
      var series = try RecordingSeries.begin(
        RecordingConfiguration(path: folder["\(format)"], format: format), at: .recorded(),
        remark: remarks.take)
      series.write(batch(0..<10))
      #expect(series.status.lost == 10 && remarks.all.count == 1)
      try disk.free()
      series.write(batch(10..<20))
      #expect(series.status.lost == 10 && series.status.packets == 10)
      #expect(try Reading(path: folder["\(format)"]).minors == Array(10..<20))
      // An open file keeps its pages.
      series.finish()
      try FileManager.default.removeItem(atPath: folder["\(format)"])
      // A process that another test starts has the file too, until it runs its program.
      #expect(eventually { disk.isEmpty })
      try disk.fill(100_000)
    }
  }

  /// What cannot be taken back and takes nothing.
  @Test func aDeviceThatIsFull() throws {
    let remarks = Remarks()
    var series = try RecordingSeries.begin(
      RecordingConfiguration(path: "/dev/full", format: .btsnoop), at: .recorded(),
      remark: remarks.take)
    for batch in 0..<20 as Range<UInt16> { series.write(self.batch(batch..<(batch + 1))) }
    #expect(series.status.lost == 20 && series.status.packets == 0)
    #expect(series.status.failure?.problem == .failed(call: "write", .noSpace))
    #expect(remarks.all.count == 1)
  }

  /// The file is removed: recording goes on in a new one of the name.
  @Test(arguments: CaptureWriter.Format.allCases)
  func aFileThatIsRemoved(format: CaptureWriter.Format) throws {
    let folder = try RecordingFolder()
    let remarks = Remarks()
    var series = try RecordingSeries.begin(
      RecordingConfiguration(path: folder["a"], format: format), at: .recorded(),
      remark: remarks.take)
    series.write(batch(0..<10, adapter: 1))
    try FileManager.default.removeItem(atPath: folder["a"])
    series.write(batch(10..<20, adapter: 2))
    series.write(batch(20..<30, adapter: 1))
    #expect(remarks.all.count == 1 && remarks.all[0].contains("it was removed"))
    #expect(series.status.files == 2 && series.status.failure == nil && series.status.lost == 0)
    #expect(try folder.minors() == Array(10..<30))
  }

  /// The directory is removed, and comes back.
  @Test(arguments: [nil, 1000])
  func aDirectoryThatIsRemoved(maximumBytes: Int?) throws {
    let folder = try RecordingFolder()
    let remarks = Remarks()
    var configuration = RecordingConfiguration(path: folder["a"], format: .btsnoop)
    configuration.maximumBytes = maximumBytes
    var series = try RecordingSeries.begin(configuration, at: .recorded(), remark: remarks.take)
    series.write(batch(0..<5))
    try FileManager.default.removeItem(at: folder.url)
    for _ in 0..<5 { series.write(batch(5..<10)) }
    #expect(series.status.lost == 25)
    #expect(remarks.all.count == 2 && remarks.all[1].contains("see that the directory is there"))
    try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
    for _ in 0..<12 { series.write(batch(10..<11)) }
    #expect(series.status.lost == 25 && series.status.packets == 17)
    #expect(remarks.all.count == 3 && remarks.all[2].contains("recording goes on"))
    #expect(try folder.minors() == Array(repeating: 10, count: 12))
  }

  /// Someone else's file stands where the removed one was: it is not touched.
  @Test func anotherFileInItsPlace() throws {
    let folder = try RecordingFolder()
    let remarks = Remarks()
    var series = try RecordingSeries.begin(
      RecordingConfiguration(path: folder["a"], format: .btsnoop), at: .recorded(),
      remark: remarks.take)
    try FileManager.default.removeItem(atPath: folder["a"])
    try folder.write([1, 2, 3], "a")
    series.write(batch(0..<5))
    #expect(series.status.lost == 5 && series.status.failure?.problem == .exists)
    #expect(try folder.bytes("a") == [1, 2, 3])
  }

  /// A recording that is cut anywhere gives all packets that stood whole before.
  @Test(arguments: CaptureWriter.Format.allCases)
  func cutAnywhere(format: CaptureWriter.Format) throws {
    let folder = try RecordingFolder()
    var series = try RecordingSeries.begin(
      RecordingConfiguration(path: folder["a"], format: format), at: .recorded(), remark: { _ in })
    for adapter in 0..<4 as Range<UInt16> {
      series.write(batch((adapter * 2)..<(adapter * 2 + 2), adapter: adapter))
    }
    let bytes = try folder.bytes("a")
    var most = 0
    for cut in 1...bytes.count {
      let reading = try Reading(Array(bytes.prefix(cut)))
      #expect(reading.minors == Array(0..<UInt16(reading.minors.count)), "cut at \(cut)")
      #expect(reading.minors.count >= most, "cut at \(cut)")
      most = reading.minors.count
      switch reading.error?.problem {
      case nil, .cutShort: break
      // The first bytes do not tell the format yet.
      case .notACapture where cut < 8: break
      default: Issue.record("cut at \(cut): \(reading.error!)")
      }
    }
    #expect(most == 8)
  }

  /// A writer that is refused the rest at any byte leaves whole packets, and can go on behind them.
  @Test(arguments: CaptureWriter.Format.allCases, 1...4 as ClosedRange<UInt64>)
  func manyFaults(format: CaptureWriter.Format, seed: UInt64) throws {
    guard SmallDisk.isPossible else { return }
    var random = SplitMix64(seed: seed)
    let disk = try SmallDisk(bytes: 40960)
    let folder = disk.folder
    var configuration = RecordingConfiguration(path: folder["a"], format: format)
    configuration.maximumBytes = 9000
    configuration.maximumFiles = 4
    var series = try RecordingSeries.begin(configuration, at: .recorded(), remark: { _ in })
    var next: UInt16 = 0
    for _ in 0..<200 {
      if random.next() % 4 == 0 {
        try disk.fill(Int(random.next() % 50000))
      }
      let count = UInt16(random.next() % 60)
      series.write(batch(next..<(next + count), adapter: UInt16(random.next() % 3)))
      next += count
    }
    try disk.free()
    series.finish()
    #expect(series.status.packets + series.status.lost == Int(next), "seed \(seed)")
    #expect(folder.names.count <= 4)
    var heard: [UInt16] = []
    for name in folder.names {
      let reading = try Reading(path: folder[name])
      #expect(reading.error == nil || reading.error?.problem == .empty, "seed \(seed), \(name)")
      heard += reading.minors
    }
    #expect(heard == heard.sorted() && Set(heard).count == heard.count, "seed \(seed)")
    #expect(series.status.lost > 0 && !heard.isEmpty, "seed \(seed)")
  }
}
