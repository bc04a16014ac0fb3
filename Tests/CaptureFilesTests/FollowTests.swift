import Advertising
import CaptureFiles
import Scanning
import Testing

/// A file that is still being written.
@Suite struct FollowTests {
  /// Reads what is there.
  private func read(_ reader: CaptureReader, _ collector: inout SightingCollector) throws
    -> [UInt16]
  {
    collector.removeSightings()
    while case .more = try reader.read(into: &collector) {}
    return collector.sightings.map(\.beacon.minor)
  }

  /// Bytes come in any portions: each packet is given once, when it is whole.
  @Test(arguments: [1, 3, 7, 24, 70, 1000])
  func growsInPortions(portion: Int) throws {
    let bytes = joined(
      BTSnoopFile.header(), (0..<6).flatMap { BTSnoopFile.record(Adverts.h4($0)) })
    let record = BTSnoopFile.record(Adverts.h4(0)).count
    let file = try TemporaryFile()
    let reader = try CaptureReader(path: file.path, follows: true)
    var collector = SightingCollector()
    var minors: [UInt16] = []
    #expect(try read(reader, &collector) == [])
    var written = 0
    while written < bytes.count {
      let next = min(written + portion, bytes.count)
      try file.append(Array(bytes[written..<next]))
      written = next
      minors += try read(reader, &collector)
      #expect(minors.count == max(0, (written - 16) / record))
    }
    #expect(minors == Array(0..<6))
    let isCaughtUp = try reader.read(into: &collector) == .caughtUp
    #expect(isCaughtUp)
  }

  /// An error ends a followed file, too.
  @Test func damageIsStillDamage() throws {
    let file = try TemporaryFile(BTSnoopFile.header())
    let reader = try CaptureReader(path: file.path, follows: true)
    var collector = SightingCollector()
    #expect(try read(reader, &collector) == [])
    try file.append([UInt8](repeating: 0xFF, count: 24))
    #expect(throws: CaptureError.self) { try read(reader, &collector) }
  }

  /// A sighting that is due does not wait for the next one: waiting for more takes a tenth of a second each time.
  @Test func whatIsDueIsGivenAtOnce() throws {
    let file = try TemporaryFile(BTSnoopFile.header())
    let replay = try ReplayScanner(paths: [file.path], speed: .times(1e6), follows: true)
    var sightings: [Sighting] = []
    var shortest = Duration.seconds(60)
    for number in 0..<20 as Range<UInt16> {
      let record = BTSnoopFile.record(Adverts.h4(number), microseconds: Int64(number) * 1000)
      try file.append(record)
      let start = ContinuousClock.now
      repeat {
        _ = try replay.receive(for: .ranging, until: nil, into: &sightings)
      } while sightings.isEmpty
      shortest = min(shortest, ContinuousClock.now - start)
      #expect(sightings.map(\.beacon.minor) == [number])
    }
    #expect(shortest < .milliseconds(100))
  }

  @Test func replaysFollow() throws {
    let file = try TemporaryFile(BTSnoopFile.header() + BTSnoopFile.record(Adverts.h4(1)))
    let replay = try ReplayScanner(paths: [file.path], follows: true)
    var minors: [UInt16] = []
    var sightings: [Sighting] = []
    for number in 1...3 as ClosedRange<UInt16> {
      for _ in 0..<2 {
        let progress = try replay.receive(for: .ranging, until: nil, into: &sightings)
        minors += sightings.map(\.beacon.minor)
        #expect(!progress.isOver)
      }
      #expect(minors == Array(1...number))
      try file.append(BTSnoopFile.record(Adverts.h4(number + 1)))
    }
  }
}
