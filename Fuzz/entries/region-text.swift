// Beacon constraints, proximity UUIDs and addresses as text. Input: text in UTF-8.

import Advertising
import Scanning

func check(_ bytes: [UInt8]) {
  let text = String(decoding: bytes, as: UTF8.self)
  checkConstraint(text)
  if let uuid = ProximityUUID(text) {
    let isInBraces = text.hasPrefix("{") && text.hasSuffix("}")
    let digits = (isInBraces ? text.dropFirst().dropLast() : text[...]).filter {
      !"- ".contains($0)
    }
    require(
      uuid.description.filter { $0 != "-" } == digits.uppercased(), "\(text) became \(uuid)")
    require(ProximityUUID(uuid.description) == uuid, "\(uuid) does not survive a round trip")
    require(digits.utf8.count == 32, "a UUID of \(digits.utf8.count) digits")
  }
  if let address = BluetoothAddress(text) {
    require(address.description == text.uppercased(), "\(text) became \(address)")
    let wire = address.littleEndianBytes
    require(wire.reversed().reduce(0) { $0 << 8 | UInt64($1) } == address.rawValue, "its bytes")
  }
  if bytes.count >= 22 { checkWritten(bytes) }
}

private func checkConstraint(_ text: String) {
  let parts = text.split(separator: ":", omittingEmptySubsequences: false)
  guard let constraint = BeaconConstraint(text) else {
    return require(
      ProximityUUID(text) == nil, "a UUID alone is no constraint")
  }
  require(BeaconConstraint(constraint.description) == constraint, "\(constraint): round trip")
  let count = constraint.minor != nil ? 3 : constraint.major != nil ? 2 : 1
  require(parts.count == count, "\(text) became \(constraint)")
  // Numbers are digits and nothing else; a major of a minor may be any.
  let isAnyMajor = constraint.major == nil && constraint.minor != nil
  require(!isAnyMajor || parts[1] == "*", "\(text) became \(constraint)")
  for (part, number) in zip(parts.dropFirst(), [constraint.major, constraint.minor])
  where !(isAnyMajor && part == "*") {
    require(part.utf8.allSatisfy { (48...57).contains($0) }, "\(part) passed for a number")
    require(Int(part) == number.map { Int($0) }, "\(part) became \(number ?? 0)")
  }
  let beacon = BeaconIdentity(
    uuid: constraint.uuid, major: constraint.major ?? 7, minor: constraint.minor ?? 9)
  require(constraint.matches(beacon), "\(constraint) does not mean \(beacon)")
  let (major, minor) = (beacon.major &+ 1, beacon.minor &+ 1)
  let other = BeaconIdentity(uuid: constraint.uuid, major: major, minor: beacon.minor)
  require(constraint.matches(other) == (constraint.major == nil), "another major")
  let third = BeaconIdentity(uuid: constraint.uuid, major: beacon.major, minor: minor)
  require(constraint.matches(third) == (constraint.minor == nil), "another minor")
}

/// Any identity is read back as it was written.
private func checkWritten(_ bytes: [UInt8]) {
  var feed = Feed(bytes)
  let uuid = ProximityUUID(high: feed.word(), low: feed.word())
  let major = UInt16(feed.byte()) << 8 | UInt16(feed.byte())
  let minor = UInt16(feed.byte()) << 8 | UInt16(feed.byte())
  let beacon = BeaconIdentity(uuid: uuid, major: major, minor: minor)
  let constraint = BeaconConstraint(uuid: uuid, major: major, minor: minor)
  require(BeaconConstraint(beacon.description) == constraint, "\(beacon): round trip")
  let address = BluetoothAddress(rawValue: uuid.low)
  require(BluetoothAddress(address.description) == address, "\(address): round trip")
}
