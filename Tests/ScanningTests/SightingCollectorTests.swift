import Advertising
import HCIPackets
import Scanning
import Synchronization
import TestSupport
import Testing

/// The one place where reports become sightings.
@Suite struct SightingCollectorTests {
  private static let address: [UInt8] = [0x06, 0x05, 0x04, 0x03, 0x02, 0xC1]

  private func frame(_ minor: UInt16, power: Int8 = -59) -> IBeacon {
    IBeacon(
      identity: BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 3, minor: minor),
      measuredPower: power)
  }

  private func structure(_ data: [UInt8]) -> [UInt8] {
    [UInt8(data.count + 1), 0xFF] + data
  }

  /// A legacy event with one report for each data.
  private func event(_ adverts: [UInt8]..., rssi: Int8 = -64) -> [UInt8] {
    let body = adverts.flatMap { data -> [UInt8] in
      [0x03, 0x01] + Self.address + [UInt8(data.count)] + data + [UInt8(bitPattern: rssi)]
    }
    return [0x3E, UInt8(body.count + 2), 0x02, UInt8(adverts.count)] + body
  }

  /// An extended event with a part of an advert.
  private func part(_ data: [UInt8], status: UInt8) -> [UInt8] {
    let head: [UInt8] = [status << 5, 0x00, 0x01] + Self.address
    let body =
      head + [1, 2, 0, 0x7F, 0xC4, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(data.count)] + data
    return [0x3E, UInt8(body.count + 2), 0x0D, 1] + body
  }

  private func hear(_ event: [UInt8], _ collector: inout SightingCollector) {
    unsafe collector.receive(event: event.span.bytes)
  }

  @Test func aSightingHasEverything() {
    var collector = SightingCollector()
    collector.time = MonotonicTime(nanoseconds: 5)
    collector.wallTime = WallClockTime(nanoseconds: 7)
    collector.adapter = 3
    hear(event(frame(4, power: 12).advertisingData), &collector)
    let expected = Sighting(
      time: MonotonicTime(nanoseconds: 5), wallTime: WallClockTime(nanoseconds: 7),
      beacon: frame(4).identity, measuredPower: 12, rssi: -64,
      address: BluetoothAddress(rawValue: 0xC102_0304_0506), addressType: .random, adapter: 3)
    let sightings = collector.sightings
    #expect(sightings == [expected])
  }

  /// The tap receives every report, with a beacon or without.
  @Test func theTapReceivesEveryReport() {
    final class Taps: Sendable {
      let all = Mutex<[[Int]]>([])
    }
    let taps = Taps()
    var collector = SightingCollector()
    collector.time = MonotonicTime(nanoseconds: 5)
    collector.adapter = 3
    collector.reportTap = { report, time, _, adapter in
      let numbers = [report.data.byteCount, Int(time.nanoseconds), Int(adapter)]
      taps.all.withLock { $0.append(numbers) }
    }
    hear(event(frame(4).advertisingData, structure([0x88, 0xEC, 0x00, 0x01])), &collector)
    #expect(taps.all.withLock { $0 } == [[30, 5, 3], [6, 5, 3]])
  }

  /// Every manufacturer-specific structure of a packet is looked at.
  @Test func severalStructures() {
    var collector = SightingCollector()
    let other: [UInt8] = structure([0x88, 0xEC, 0x00, 0x01])
    let broken = structure(Array(frame(9).manufacturerData.prefix(20)))
    let data =
      other + structure(frame(1).manufacturerData) + broken
      + structure(frame(2).manufacturerData + [0x64]) + structure([])
    hear(event(data), &collector)
    let (sightings, counts) = (collector.sightings, collector.counts)
    #expect(sightings.map(\.beacon.minor) == [1, 2])
    #expect(counts.sightings == 2 && counts.reports == 1 && counts.advertisingPackets == 1)
    #expect(counts[.malformedIBeacon] == 1)
  }

  /// Frames before a structure that runs past the end stand.
  @Test func framesBeforeDamage() {
    var collector = SightingCollector()
    hear(event(structure(frame(1).manufacturerData) + [0x1A, 0xFF, 0x4C, 0x00]), &collector)
    let (sightings, counts) = (collector.sightings, collector.counts)
    #expect(sightings.map(\.beacon.minor) == [1])
    #expect(counts[.malformedADStructure] == 1 && counts[.malformedIBeacon] == 0)
  }

  /// An iBeacon in a structure of another type, or behind the early end, is none.
  @Test func decoys() {
    var collector = SightingCollector()
    var service = structure(frame(1).manufacturerData)
    service[1] = 0x16
    hear(event(service, [0x00] + structure(frame(2).manufacturerData)), &collector)
    // A Command Complete that holds one.
    let complete = [0x0E, 0x20, 0x01, 0x08, 0x20] + frame(3).advertisingData
    hear(complete, &collector)
    let (sightings, counts) = (collector.sightings, collector.counts)
    #expect(sightings.isEmpty)
    #expect(counts.reports == 2 && counts.advertisingPackets == 1)
  }

  @Test func everyReportOfAnEventAndRefusals() {
    var collector = SightingCollector()
    let whole = event(
      frame(1).advertisingData, frame(2).advertisingData, frame(3).advertisingData, rssi: 127)
    hear(whole, &collector)
    hear(Array(whole.dropLast()), &collector)
    var lying = whole
    lying[1] -= 1
    hear(lying, &collector)
    let (sightings, counts) = (collector.sightings, collector.counts)
    #expect(sightings.map(\.beacon.minor) == [1, 2, 3, 1, 2, 1, 2])
    #expect(sightings.allSatisfy { $0.rssi == nil })
    #expect(counts[.truncatedPacket] == 1 && counts[.malformedPacket] == 1)
    #expect(counts.reports == 7 && counts.advertisingPackets == 3)
  }

  /// An event of advertising that ends before Num_Reports is counted, and one that may be any is not.
  @Test func eventsWithoutNumReports() {
    var collector = SightingCollector()
    for subevent in [0x02, 0x0D] as [UInt8] {
      hear([0x3E, 0x2A, subevent], &collector)
      hear([0x3E, 0x01, subevent], &collector)
      hear([0x3E, 0x2A], &collector)
    }
    hear([0x3E, 0x2A, 0x01], &collector)
    let counts = collector.counts
    #expect(counts[.truncatedPacket] == 2 && counts[.malformedPacket] == 2)
    #expect(counts.advertisingPackets == 4 && counts.reports == 0)
  }

  @Test func fragments() {
    var collector = SightingCollector()
    let advert = structure(frame(1).manufacturerData) + structure(frame(2).manufacturerData)
    hear(part(Array(advert.prefix(30)), status: 1), &collector)
    let early = collector.sightings.count
    #expect(early == 0)
    // Another advertiser's whole report between the parts.
    hear(event(frame(7).advertisingData), &collector)
    hear(part(Array(advert.dropFirst(30)), status: 0), &collector)
    hear(part([1, 2, 3], status: 2), &collector)
    collector.time = MonotonicTime(nanoseconds: 1)
    hear(part(Array(advert.prefix(30)), status: 1), &collector)
    collector.time = MonotonicTime(nanoseconds: 2_000_000_000)
    hear(event(frame(8).advertisingData), &collector)
    hear(part(frame(9).advertisingData, status: 0), &collector)
    hear(part([1, 2, 3], status: 1), &collector)
    collector.finish()
    collector.finish()
    let (sightings, counts) = (collector.sightings, collector.counts)
    #expect(sightings.map(\.beacon.minor) == [7, 1, 2, 8, 9])
    // One truncated, one too old, one that the end left unfinished.
    #expect(counts[.incompleteReport] == 3)
    #expect(counts.reports == 4)
  }

  @Test func linkLayerPackets() {
    var collector = SightingCollector()
    let payload = Self.address + frame(1).advertisingData
    let packet: [UInt8] =
      [0xD6, 0xBE, 0x89, 0x8E, 0x42, UInt8(payload.count)] + payload + [0, 0, 0]
    func hear(_ bytes: [UInt8], _ checksum: AdvertisingPDU.Checksum) {
      unsafe collector.receive(
        packet: bytes.span.bytes, isCoded: false, checksum: checksum, rssi: nil)
    }
    hear(packet, .valid)
    hear(packet, .wrong)
    hear(packet, .unchecked)
    hear(Array(packet.dropLast(5)), .valid)
    hear([1, 2, 3, 4] + packet.dropFirst(4), .valid)  // a data channel
    hear([], .valid)
    let (sightings, counts) = (collector.sightings, collector.counts)
    #expect(sightings.map(\.beacon.minor) == [1] && sightings[0].rssi == nil)
    #expect(counts.advertisingPackets == 4 && counts.reports == 1)
    #expect(counts[.badCRC] == 2 && counts[.truncatedPacket] == 1)
  }

  @Test func countsAreKeptAndAdded() {
    var collector = SightingCollector(capacity: 1)
    hear(event(frame(1).advertisingData), &collector)
    collector.removeSightings()
    for refusal in Refusal.allCases { collector.refuse(refusal) }
    collector.refuse(.badCRC)
    let (isEmpty, counts) = (collector.sightings.isEmpty, collector.counts)
    #expect(isEmpty && counts.sightings == 1)
    var sum = counts
    sum += counts
    #expect(sum.sightings == 2 && sum.reports == 2 && sum.advertisingPackets == 2)
    for refusal in Refusal.allCases {
      #expect(counts[refusal] == (refusal == .badCRC ? 2 : 1))
      #expect(sum[refusal] == 2 * counts[refusal])
    }
  }

  /// Whatever comes, every sighting is counted, and nothing traps.
  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func randomEvents(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var collector = SightingCollector()
    for time in 0..<300 {
      collector.time = MonotonicTime(nanoseconds: Int64(time) * 100_000_000)
      var bytes =
        random.next() % 2 == 0
        ? event(frame(1).advertisingData, random.bytes(Int(random.next() % 40)))
        : part(random.bytes(Int(random.next() % 200)), status: UInt8(random.next() % 4))
      for _ in 0..<(random.next() % 4) {
        let place = Int.random(in: bytes.indices, using: &random)
        bytes[place] = UInt8(truncatingIfNeeded: random.next())
      }
      hear(Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random))), &collector)
    }
    let (sightings, counts) = (collector.sightings, collector.counts)
    #expect(sightings.count == counts.sightings, "seed \(seed)")
    #expect(counts.advertisingPackets <= 300, "seed \(seed)")
    #expect(sightings.count > 5, "seed \(seed)")
  }
}
