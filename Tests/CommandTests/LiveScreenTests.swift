import BeaconTesting
import Foundation
import Frontends
import Ranging
import Records
import Regions
import Scanning
import SystemPackage
import Testing

@testable import ServiceCore
@testable import beaconscan

/// A table that is redrawn shows what is wrong with the radio: a sentence on standard error would be drawn over.
@Suite struct LiveScreenTests {
  /// What each drawing put there, the first in front.
  private func drawn(_ draw: (StandardOutput) throws -> Void) throws -> [Substring] {
    let scratch = try Scratch()
    let file = try scratch.file("screen")
    let descriptor = try FileDescriptor.open(FilePath(file.path), .writeOnly)
    defer { try? descriptor.close() }
    try draw(StandardOutput(descriptor))
    return try String(contentsOf: file, encoding: .utf8).split(separator: "\u{1B}[J")
  }

  @Test func rangeShowsAFaultUntilItIsFixed() throws {
    let time = WallClockTime(nanoseconds: 0)
    let frames = try drawn { output in
      let writer = LiveRangeWriter(
        output: output, regions: [],
        beacon: RangedBeacon.record(showsRaw: false, showsSides: false))
      try writer.write(trouble: "hci0 is down", at: time)
      try writer.write(
        RangingReport(
          time: MonotonicTime(nanoseconds: 0), wallClockOffset: .zero, beacons: []))
      try writer.write(trouble: nil, at: time)
    }
    #expect(frames.count == 3)
    #expect(frames[0].contains("hci0 is down") && frames[1].contains("hci0 is down"))
    #expect(frames[1].contains("0 beacons") && frames[2].contains("0 beacons"))
    #expect(!frames[2].contains("hci0 is down"))
  }

  @Test func monitorShowsAFaultUntilItIsFixed() throws {
    let scene = try drawn { output in
      let region = try #require(NamedRegion("lobby=\(LiveRun.uuid)"))
      let writer = try LiveMonitorWriter(
        output: output, regions: [region],
        session: BeaconSession(ScriptedScanner(), showsProgress: false),
        line: EventLine(regions: [region.name], showsCircles: false))
      try writer.write(trouble: "hci0 is gone", at: WallClockTime(nanoseconds: 0))
      try writer.write(trouble: nil, at: WallClockTime(nanoseconds: 1))
    }
    #expect(scene.count == 2)
    #expect(scene[0].contains("hci0 is gone") && scene[0].contains("lobby"))
    #expect(!scene[1].contains("hci0 is gone"))
  }
}
