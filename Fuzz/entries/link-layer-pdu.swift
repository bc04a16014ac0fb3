// Link-layer packets of the advertising channels. Input: a byte of choices, an RSSI, then the packet.
//
// Choices: bit 0 coded PHY; bits 1-2 the checksum is right, wrong, unknown, or unknown and first made
// right here, so that mutations come past it; bit 3 puts the advertising access address in front.

import Advertising
import HCIPackets
import Scanning

func check(_ bytes: [UInt8]) {
  var feed = Feed(bytes)
  let choices = feed.byte()
  let rssi = Int8(bitPattern: feed.byte())
  var packet = feed.rest()
  if choices & 8 != 0 { packet = [0xD6, 0xBE, 0x89, 0x8E] + packet }
  let isCoded = choices & 1 != 0
  if choices >> 1 & 3 == 3 { packet = withRightCRC(packet, start: isCoded ? 5 : 4) }
  let checksum: AdvertisingPDU.Checksum =
    choices >> 1 & 3 == 0 ? .valid : choices >> 1 & 3 == 1 ? .wrong : .unchecked
  let answer = hear(packet, isCoded, checksum, rssi)
  let plain = plainAnswer(packet, isCoded, checksum, rssi)
  require(answer == plain, "\(answer), not \(plain)")
  require(checksum != .valid || answer.refusal != .badCRC, "a right checksum was refused")
  require(checksum != .wrong || answer.reports == 0, "a wrong checksum was taken")
  guard answer.reports == 1 else { return }
  for length in stride(from: 0, to: Int(packet[isCoded ? 6 : 5]), by: 5) {
    let cut = hear(Array(packet.prefix(length)), isCoded, checksum, rssi)
    require(cut.reports == 0, "a prefix of \(length) bytes gave a report")
  }
  guard checksum == .unchecked else { return }
  // A CRC sees every single wrong bit of the PDU.
  let bit = Int(hash(bytes) % UInt64(8 * (2 + Int(packet[isCoded ? 6 : 5]))))
  packet[(isCoded ? 5 : 4) + bit / 8] ^= 1 << (bit % 8)
  require(hear(packet, isCoded, checksum, rssi).reports == 0, "a wrong bit was not seen")
}

private struct Answer: Equatable {
  var isAdvertising = false
  var reports = 0
  var refusal: Refusal?
  var sightings: [PlainSighting] = []
}

private func hear(
  _ packet: [UInt8], _ isCoded: Bool, _ checksum: AdvertisingPDU.Checksum, _ rssi: Int8?
) -> Answer {
  var collector = SightingCollector(capacity: 0)
  collector.receive(
    packet: unsafe packet.span.bytes, isCoded: isCoded, checksum: checksum, rssi: rssi)
  requireSound(collector, packets: 1)
  var answer = Answer()
  answer.isAdvertising = collector.counts.advertisingPackets == 1
  answer.reports = collector.counts.reports
  answer.refusal = [.badCRC, .truncatedPacket, .malformedPacket].first { collector.counts[$0] > 0 }
  answer.sightings = collector.sightings.map { PlainSighting($0) }
  return answer
}

/// The same from the Core Specification, Vol 6, Part B, §2.1 to §2.3, over an array.
private func plainAnswer(
  _ packet: [UInt8], _ isCoded: Bool, _ checksum: AdvertisingPDU.Checksum, _ rssi: Int8?
) -> Answer {
  var answer = Answer()
  guard packet.starts(with: [0xD6, 0xBE, 0x89, 0x8E]) else { return answer }
  answer.isAdvertising = true
  let pdu = Array(packet.dropFirst(isCoded ? 5 : 4))
  guard pdu.count >= 2, pdu.count >= 2 + Int(pdu[1]) + 3 else {
    answer.refusal = checksum == .wrong ? .badCRC : .truncatedPacket
    return answer
  }
  let body = Array(pdu.prefix(2 + Int(pdu[1])))
  let isRight = checksum == .valid || crc(body) == Array(pdu[body.count..<(body.count + 3)])
  guard checksum != .wrong, isRight else {
    answer.refusal = .badCRC
    return answer
  }
  var payload = Array(body.dropFirst(2))
  var address: [UInt8]?
  switch pdu[0] & 0x0F {
  case 0, 2, 4, 6:
    guard payload.count >= 6 else {
      answer.refusal = .malformedPacket
      return answer
    }
    address = Array(payload.prefix(6))
    payload = Array(payload.dropFirst(6))
  case 7:
    guard let first = payload.first, payload.count >= 1 + Int(first & 0x3F) else {
      answer.refusal = .malformedPacket
      return answer
    }
    let header = Array(payload.dropFirst().prefix(Int(first & 0x3F)))
    if let flags = header.first, flags & 1 != 0 {
      guard header.count >= 7 else {
        answer.refusal = .malformedPacket
        return answer
      }
      address = Array(header[1..<7])
    }
    payload = Array(payload.dropFirst(1 + header.count))
    if payload.isEmpty { return answer }
  default: return answer
  }
  answer.reports = 1
  let number = (address ?? []).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  let type: UInt8 = address == nil ? 0xFF : pdu[0] & 0x40 != 0 ? 1 : 0
  answer.sightings = PlainAdvert(payload).frames.map {
    PlainSighting(frame: $0, rssi: rssi, address: number, addressType: type, time: 0, adapter: 0)
  }
  return answer
}

private func withRightCRC(_ packet: [UInt8], start: Int) -> [UInt8] {
  guard packet.count >= start + 2 else { return packet }
  let body = packet.dropFirst(start).prefix(2 + Int(packet[start + 1]))
  return Array(packet.prefix(start) + body) + crc(Array(body))
}

/// CRC-24 bit by bit, as the shift register of §3.1.1 is drawn: position 0 first on air.
private func crc(_ bytes: [UInt8]) -> [UInt8] {
  // Bit n of the number is position n of the register.
  var register: UInt32 = 0x555555
  for byte in bytes {
    for bit in 0..<8 {
      let feedback = register >> 23 ^ UInt32(byte) >> bit & 1
      register = register << 1 & 0xFF_FFFF ^ (feedback & 1) * 0x00_065B
    }
  }
  // Position 23 goes on air first, and the first bit on air is an octet's least significant one.
  return (0..<3).map { octet in
    (0..<8).reduce(0) { $0 | UInt8(register >> UInt32(23 - 8 * octet - $1) & 1) << $1 }
  }
}
