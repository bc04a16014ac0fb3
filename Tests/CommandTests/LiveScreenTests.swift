import Foundation
import Regions
import Scanning
import SystemPackage
import Testing

@testable import CoreLocation
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

  @Test func rangeShowsAFaultUntilItIsMended() throws {
    let moment = MonotonicTime(nanoseconds: 0)
    let frames = try drawn { output in
      let writer = LiveRangeWriter(output: output, regions: [], showsRaw: false)
      try writer.write(trouble: "hci0 is down", at: moment, offset: .zero)
      try writer.write(RangingReport(time: moment, beacons: []), offset: .zero)
      try writer.write(trouble: nil, at: moment, offset: .zero)
    }
    #expect(frames.count == 3)
    #expect(frames[0].contains("hci0 is down") && frames[1].contains("hci0 is down"))
    #expect(frames[1].contains("0 beacons") && frames[2].contains("0 beacons"))
    #expect(!frames[2].contains("hci0 is down"))
  }

  @Test func monitorShowsAFaultUntilItIsMended() throws {
    let scene = try drawn { output in
      var configuration = LocationServices.Configuration()
      configuration.isDrivenByHand = true
      configuration.persistence = .none
      let region = try #require(NamedRegion(argument: "lobby=\(LiveRun.uuid)"))
      let writer = LiveMonitorWriter(
        output: output, regions: [region], services: LocationServices(configuration),
        line: EventLine(regions: [region], rules: .standard, hasColour: false))
      try writer.write(trouble: "hci0 is gone", at: MonotonicTime(nanoseconds: 0), offset: .zero)
      try writer.write(trouble: nil, at: MonotonicTime(nanoseconds: 1), offset: .zero)
    }
    #expect(scene.count == 2)
    #expect(scene[0].contains("hci0 is gone") && scene[0].contains("lobby"))
    #expect(!scene[1].contains("hci0 is gone"))
  }
}
