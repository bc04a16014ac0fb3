// HCI events: every report of LE Advertising Report and LE Extended Advertising Report, and the
// joining of fragments over several events. Input: events, each behind a gap in 20 ms, an adapter and
// a length of one byte.

import Advertising
import HCIPackets
import Scanning

private struct Event {
  var time: Int64
  var adapter: UInt16
  var bytes: [UInt8]
}

func check(_ bytes: [UInt8]) {
  var feed = Feed(bytes)
  var events: [Event] = []
  var time: Int64 = 0
  while !feed.isEmpty {
    time += Int64(feed.byte()) * 20_000_000
    let adapter = UInt16(feed.byte())
    events.append(Event(time: time, adapter: adapter, bytes: feed.bytes(Int(feed.byte()))))
  }
  var plain = PlainController()
  for event in events { plain.receive(event) }
  let (sightings, counts) = collect(events[...])
  require(sightings == plain.sightings, "the plain reader found other sightings")
  require(counts.reports == plain.reports, "\(counts.reports) reports, not \(plain.reports)")
  require(counts[.incompleteReport] == plain.lost, "lost \(counts[.incompleteReport])")
  require(
    counts[.truncatedPacket] == plain.truncated && counts[.malformedPacket] == plain.malformed,
    "refused packets")
  let half = events.count / 2
  let first = collect(events.prefix(half)).0
  require(sightings.starts(with: first), "half of the events gave other sightings")
  for event in events { checkEvent(event) }
}

private func collect(_ events: ArraySlice<Event>) -> ([PlainSighting], ScanCounts) {
  var collector = SightingCollector(capacity: 0)
  for event in events {
    collector.time = MonotonicTime(nanoseconds: event.time)
    collector.adapter = event.adapter
    collector.receive(event: unsafe event.bytes.span.bytes)
  }
  requireSound(collector, packets: events.count)
  return (collector.sightings.map { PlainSighting($0) }, collector.counts)
}

/// What follows an event is not part of it, and every prefix of an event gives a prefix of its
/// sightings.
private func checkEvent(_ event: Event) {
  let (whole, _) = collect([event])
  if event.bytes.count >= 2, Int(event.bytes[1]) + 2 <= event.bytes.count {
    var longer = event
    longer.bytes += [0xFF, 0x00, 0x1A]
    require(collect([longer]).0 == whole, "what follows an event changed it")
  }
  let step = max(1, event.bytes.count / 8)
  for length in stride(from: 0, to: event.bytes.count, by: step) {
    var shorter = event
    shorter.bytes = Array(event.bytes.prefix(length))
    require(whole.starts(with: collect([shorter]).0), "a prefix of \(length) bytes gave others")
  }
}

/// A reader of advertising events over arrays, from the Core Specification, Vol 4, Part E, §7.7.65,
/// with the bounds that the library states: 16 adverts pending, 1,650 bytes, one second.
private struct PlainController {
  var sightings: [PlainSighting] = []
  var reports = 0
  var lost = 0
  var truncated = 0
  var malformed = 0

  private struct Pending {
    var key: [UInt8]
    var since: Int64
    var rssi: Int8?
    var data: [UInt8] = []
  }
  private var pending: [Pending] = []

  mutating func receive(_ event: Event) {
    let bytes = event.bytes
    guard bytes.count >= 3, bytes[0] == 0x3E, bytes[2] == 0x02 || bytes[2] == 0x0D else { return }
    guard bytes.count > 3 else {
      // It ends before Num_Reports.
      if bytes[1] > 1 { truncated += 1 } else { malformed += 1 }
      return
    }
    let isExtended = bytes[2] == 0x0D
    let isCut = bytes.count < 2 + Int(bytes[1])
    var rest = Array(bytes.prefix(2 + Int(bytes[1])).dropFirst(4))
    for _ in 0..<bytes[3] {
      let header = isExtended ? 24 : 9
      let tail = isExtended ? 0 : 1  // the RSSI
      guard rest.count >= header, rest.count >= header + Int(rest[header - 1]) + tail else {
        if isCut { truncated += 1 } else { malformed += 1 }
        return
      }
      let length = Int(rest[header - 1])
      let data = Array(rest[header..<(header + length)])
      let level = Int8(bitPattern: isExtended ? rest[13] : rest[header + length])
      let rssi = level <= 20 && level > -128 ? level : nil
      if isExtended {
        let type = UInt16(rest[0]) | UInt16(rest[1]) << 8
        hear(
          data, status: Int(type >> 5 & 3), key: [UInt8(type & 0x1F), rest[11]] + rest[2..<9], rssi,
          event)
      } else {
        let legacy: [UInt8] = [0x13, 0x15, 0x12, 0x10, 0x1A]
        let type = rest[0] < 5 ? legacy[Int(rest[0])] : 0x10
        // A legacy advert is always whole, and has no part in the joining.
        take(Pending(key: [type, 0xFF] + rest[1..<8], since: 0, rssi: rssi, data: data), event)
      }
      rest = Array(rest.dropFirst(header + length + tail))
    }
  }

  private mutating func hear(
    _ data: [UInt8], status: Int, key: [UInt8], _ rssi: Int8?, _ event: Event
  ) {
    let key = key + [UInt8(event.adapter)]
    let before = pending.count
    pending.removeAll { event.time - $0.since > 1_000_000_000 }
    lost += before - pending.count
    var entry = Pending(key: key, since: event.time)
    if let index = pending.firstIndex(where: { $0.key == key }) {
      entry = pending.remove(at: index)
    }
    guard status < 2, entry.data.count + data.count <= 1650 else {
      lost += 1
      return
    }
    entry.rssi = rssi ?? entry.rssi
    entry.data += data
    if status == 1 {
      if pending.count == 16 {
        pending.removeFirst()
        lost += 1
      }
      pending.append(entry)
      return
    }
    take(entry, event)
  }

  private mutating func take(_ entry: Pending, _ event: Event) {
    reports += 1
    let key = entry.key
    let address = (3..<9).reduce(0) { $0 | UInt64(key[$1]) << (8 * ($1 - 3)) }
    for frame in PlainAdvert(entry.data).frames {
      sightings.append(
        PlainSighting(
          frame: frame, rssi: entry.rssi, address: address, addressType: key[2], time: event.time,
          adapter: event.adapter))
    }
  }
}
