// Advertising data: the walk over AD structures, iBeacon, AltBeacon and Eddystone frames, and the
// collector that searches a report. Input: advertising data of any length.

import Advertising
import Bytes
import Scanning

func check(_ bytes: [UInt8]) {
  let plain = PlainAdvert(bytes)
  checkWalk(bytes, plain, base: 0)
  checkWalk(bytes, plain, base: 1000)
  for structure in plain.structures { checkFrames(structure) }
  checkFrames(PlainAdvert.Structure(offset: 0, type: 0xFF, data: bytes))
  checkCollector(bytes, plain)
  checkContents(bytes, plain)
  checkPrefixes(bytes, plain)
}

private func checkWalk(_ bytes: [UInt8], _ plain: PlainAdvert, base: Int) {
  var walk = unsafe ADStructures(bytes.span.bytes, base: base)
  var seen: [PlainAdvert.Structure] = []
  do throws(ParseError) {
    while let structure = try walk.next() {
      seen.append(
        PlainAdvert.Structure(
          offset: structure.offset - base, type: structure.type.rawValue,
          data: unsafe structure.data.withUnsafeBytes { unsafe Array($0) }))
      require(!structure.type.description.isEmpty, "a type has no name")
    }
    require(plain.overrun == nil, "a structure past the end was not refused")
  } catch {
    require(error.offset - base == plain.overrun, "refused at \(error), not \(plain.overrun ?? -1)")
    require((base..<(base + bytes.count)).contains(error.offset), "\(error) is outside the bytes")
    guard case .truncated(let needed, let available) = error.reason, needed > available else {
      return require(false, "\(error) needs no more than there is")
    }
    require((try? walk.next() != nil) == false, "the walk goes on after an error")
  }
  require(seen == plain.structures, "the walk found other structures")
}

private func checkFrames(_ structure: PlainAdvert.Structure) {
  let data = structure.data
  let span = unsafe data.span.bytes
  let alone = PlainAdvert([UInt8(truncatingIfNeeded: min(data.count, 254) + 1), 0xFF] + data)
  switch IBeacon.read(manufacturerData: span) {
  case .frame(let frame):
    require(data.count == 25 || data.count == 26, "a frame of \(data.count) bytes")
    require(frame.manufacturerData == Array(data.prefix(25)), "a frame: round trip")
    require(frame.hasTrailingByte == (data.count == 26), "the trailing byte")
    require(PlainAdvert(frame.advertisingData).frames == [frame.frame], "the whole advert")
    let text = frame.identity.uuid.description
    require(ProximityUUID(text) == frame.identity.uuid, "\(text) does not survive a round trip")
    require(AltBeacon.read(manufacturerData: span) == nil, "an iBeacon that is an AltBeacon")
  case .malformed:
    require(data.starts(with: [0x4C, 0x00, 0x02]) && data.count >= 4, "malformed, but not Apple's")
    require(data.count > 254 || alone.malformed == 1, "malformed, but not to the plain reader")
  case .other:
    require(!data.starts(with: [0x4C, 0x00, 0x02]) || data.count < 4, "Apple's, but other")
  }
  if let frame = AltBeacon.read(manufacturerData: span) {
    require(data.count >= 25 && data[2] == 0xBE && data[3] == 0xAC, "an AltBeacon without its code")
    let beacon = IBeacon(identity: frame.identity, measuredPower: frame.measuredPower)
    require(beacon.frame == Array(data[4..<25]), "an AltBeacon's fields")
    require(frame.manufacturerReserved == (data.count > 25 ? data[25] : nil), "the reserved byte")
  } else {
    require(data.count < 25 || data[2] != 0xBE || data[3] != 0xAC, "an AltBeacon was missed")
  }
  checkEddystone(data)
}

private func checkEddystone(_ data: [UInt8]) {
  let isEddystone = data.count >= 3 && data[0] == 0xAA && data[1] == 0xFE
  do throws(ParseError) {
    guard let frame = try Eddystone.read(serviceData: unsafe data.span.bytes, base: 7) else {
      let isKnown = isEddystone && [0x00, 0x10, 0x20, 0x30].contains(data[2])
      return require(!isKnown, "Eddystone was missed")
    }
    require(isEddystone, "Eddystone without its UUID")
    switch frame {
    case .uid(_, let namespace, let instance):
      let bytes = try? Hexadecimal.bytes(in: namespace + instance)
      require(bytes == Array(data[4..<20]), "an Eddystone-UID's bytes")
    case .eid(_, let identifier):
      require((try? Hexadecimal.bytes(in: identifier)) == Array(data[4..<12]), "Eddystone-EID")
    case .url(_, let url):
      require(url.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "a URL with other characters")
      require(url.hasPrefix("http"), "a URL without its scheme")
      require(url.utf8.count <= 12 + 6 * data.count, "a URL longer than its codes")
    case .telemetry(_, let temperature, _, let uptime):
      require(temperature.map { abs($0) <= 128 } ?? true, "a temperature of \(temperature ?? 0)")
      require(uptime >= 0 && uptime <= 429_496_729.5, "an uptime of \(uptime)")
    case .otherTelemetry(let version): require(version != 0 && version == data[3], "the version")
    }
  } catch {
    require(isEddystone, "\(error) for what is not Eddystone")
    require((7...(7 + data.count)).contains(error.offset), "\(error) is outside the bytes")
  }
}

private func collect(_ bytes: [UInt8]) -> ([PlainSighting], ScanCounts) {
  var collector = SightingCollector(capacity: 0)
  collector.counts.advertisingPackets = 1
  let report = unsafe AdvertisingReport(
    data: bytes.span.bytes, address: BluetoothAddress(rawValue: 1), addressType: .random,
    eventType: .advInd, rssi: -50)
  collector.receive(report)
  requireSound(collector, packets: 1)
  return (collector.sightings.map { PlainSighting($0) }, collector.counts)
}

private func checkCollector(_ bytes: [UInt8], _ plain: PlainAdvert) {
  let (sightings, counts) = collect(bytes)
  require(sightings.map(\.frame) == plain.frames, "the collector found other frames")
  require(counts[.malformedIBeacon] == plain.malformed, "malformed frames")
  require(counts[.malformedADStructure] == (plain.overrun == nil ? 0 : 1), "malformed structures")
  require(counts.reports == 1, "one report")
}

private func checkContents(_ bytes: [UInt8], _ plain: PlainAdvert) {
  let contents = unsafe AdvertContents(bytes.span.bytes)
  require(contents.services.count <= AdvertContents.maximumServices, "too many services")
  require(Set(contents.services).count == contents.services.count, "a service twice")
  let companies = plain.structures.filter { $0.type == 0xFF && $0.data.count >= 2 }.map(\.data)
  // Apple's number in an iBeacon is the format's.
  let company = companies.first { !PlainAdvert.isIBeacon($0) } ?? companies.first
  require(
    contents.company == company.map { UInt16($0[0]) | UInt16($0[1]) << 8 }, "another company")
  // A name of zero bytes is none, and is not replaced by a shorter one.
  if let name = contents.name {
    let names = plain.structures.filter { $0.type == 0x08 || $0.type == 0x09 }
    require(
      names.contains { String(decoding: $0.data.prefix { $0 != 0 }, as: UTF8.self) == name },
      "a name that is not there")
  }
  var merged = contents
  merged.merge(contents)
  require(merged == contents, "what is stated again changes something")
}

private func checkPrefixes(_ bytes: [UInt8], _ plain: PlainAdvert) {
  let step = max(1, bytes.count / 64)
  for length in stride(from: 0, to: bytes.count, by: step) {
    let (sightings, _) = collect(Array(bytes.prefix(length)))
    require(
      plain.frames.starts(with: sightings.map(\.frame)),
      "what a prefix of \(length) bytes holds is no prefix of what all hold")
  }
}
