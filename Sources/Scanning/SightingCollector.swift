public import Advertising
public import HCIPackets

/// The one place where reports of every receiver are searched for iBeacon frames. The sightings
/// gather in ``sightings``, which keeps its memory, so a report costs no allocation.
@usableFromInline
package struct SightingCollector: ~Copyable, Sendable {
  @usableFromInline
  package var sightings: [Sighting]
  @usableFromInline
  package var time = MonotonicTime(nanoseconds: 0)
  // Stored between the two times: side by side, they would be stored one by one and loaded as a
  // pair, for which processors wait.
  /// The counts since the collector's creation.
  @usableFromInline
  package var counts = ScanCounts()
  @usableFromInline
  package var wallTime = WallClockTime(nanoseconds: 0)
  @usableFromInline
  package var adapter: UInt16 = 0

  @usableFromInline
  package var reportTap: ReportTap?

  @usableFromInline
  var fragments = FragmentJoiner()

  package init(capacity: Int = 1024) {
    sightings = []
    sightings.reserveCapacity(capacity)
  }

  @inlinable
  package mutating func removeSightings() { sightings.removeAll(keepingCapacity: true) }

  /// Receives the HCI event that begins at `start`, with every advertising report in it.
  @inlinable @inline(__always)
  package mutating func receive(event bytes: RawSpan, at start: Int = 0) {
    unsafe receive(event: bytes, from: start, to: bytes.byteCount)
  }

  /// Receives an HCI event within longer bytes; the caller has checked its end.
  @inlinable @inline(__always)
  @unsafe
  package mutating func receive(event bytes: RawSpan, from start: Int, to end: Int) {
    guard var event = unsafe AdvertisingEvent(bytes, from: start, to: end) else { return }
    counts.advertisingPackets &+= 1
    do throws(Refusal) {
      if event.isExtended {
        while let fragment = try event.nextFragment() { receive(fragment, in: bytes) }
      } else {
        while let report = try event.nextFields() { unsafe receive(report, in: bytes) }
      }
    } catch {
      refuse(error)
    }
  }

  /// Receives a link-layer packet from its access address to its CRC.
  package mutating func receive(
    packet: RawSpan, isCoded: Bool, checksum: AdvertisingPDU.Checksum, rssi: Int8?
  ) {
    guard AdvertisingPDU.isAdvertising(packet) else { return }
    counts.advertisingPackets &+= 1
    do throws(Refusal) {
      if let report = try AdvertisingPDU.read(
        packet, isCoded: isCoded, checksum: checksum, rssi: rssi)
      {
        receive(report)
      }
    } catch {
      refuse(error)
    }
  }

  /// Receives a report, and searches all of its manufacturer-specific structures.
  package mutating func receive(_ report: AdvertisingReport) {
    unsafe receive(report.fields, in: report.bytes)
  }

  /// Receives a report, whose bounds must lie within the bytes.
  @inlinable @inline(__always)
  @unsafe
  mutating func receive(_ report: AdvertisingReportFields, in bytes: RawSpan) {
    counts.reports &+= 1
    if reportTap != nil { unsafe tap(report, in: bytes) }
    var frames = unsafe IBeaconFrames(bytes, report)
    while let found = frames.next() {
      switch found {
      case .success(let frame):
        counts.sightings &+= 1
        sightings.append(
          Sighting(frame, report, time: time, wallTime: wallTime, adapter: adapter))
      case .failure(let refusal): refuse(refusal)
      }
    }
  }

  @usableFromInline @inline(never)
  @unsafe
  func tap(_ report: AdvertisingReportFields, in bytes: RawSpan) {
    reportTap?(unsafe AdvertisingReport(bytes, report), time, wallTime, adapter)
  }

  /// Whether whole reports only need a search: no fragments are pending, and there is no tap.
  @inlinable
  package var receivesWholeReports: Bool { !fragments.isPending && reportTap == nil }

  /// Counts packets that held one report each.
  @inlinable
  package mutating func count(
    packets: Int, sightings: Int, malformedStructures: Int, malformedFrames: Int
  ) {
    counts.packets &+= packets
    counts.advertisingPackets &+= packets
    counts.reports &+= packets
    counts.sightings &+= sightings
    counts.refused[Int(Refusal.malformedADStructure.rawValue)] &+= malformedStructures
    counts.refused[Int(Refusal.malformedIBeacon.rawValue)] &+= malformedFrames
  }

  @inlinable
  package mutating func refuse(_ refusal: Refusal) { counts.refused[Int(refusal.rawValue)] &+= 1 }

  /// Receives an extended report, which may be a fragment of a long advert.
  @usableFromInline
  mutating func receive(_ fragment: AdvertisingFragment, in bytes: RawSpan) {
    if fragment.isWhole, !fragments.isPending { return unsafe receive(fragment.fields, in: bytes) }
    // The joined advert lies in the joiner, which is swapped out while the advert is received.
    var joiner = FragmentJoiner()
    swap(&joiner, &fragments)
    if let report = joiner.join(fragment, adapter: adapter, at: time.nanoseconds) {
      receive(report)
    }
    swap(&joiner, &fragments)
    countLostFragments()
  }

  /// Refuses adverts with missing fragments, because nothing more will come.
  package mutating func finish() {
    fragments.giveUpAll()
    countLostFragments()
  }

  private mutating func countLostFragments() {
    for _ in 0..<fragments.lost { refuse(.incompleteReport) }
    fragments.lost = 0
  }
}
