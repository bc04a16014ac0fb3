import Advertising
import Scanning

/// Writes the truth, one JSON object a line.
struct TruthWriter {
  let start: WallClockTime

  /// A sighting, as `beaconscan scan --format json` writes it.
  func write(_ sighting: TrueSighting, at time: Int64, to bytes: inout [UInt8]) {
    let frame = sighting.beacon
    bytes += "{\"type\":\"sighting\",\(head(frame.identity, at: time))".utf8
    bytes += ",\"measuredPower\":\(frame.measuredPower)".utf8
    bytes += ",\"rssi\":\(sighting.rssi.map { "\($0)" } ?? "null")".utf8
    bytes += ",\"address\":\"\(sighting.address)\"".utf8
    bytes += ",\"addressType\":\"\(sighting.addressType)\"}\n".utf8
  }

  /// A beacon coming within hearing, leaving it, or changing its zone.
  func write(_ mark: TruthMark, to bytes: inout [UInt8]) {
    let head = head(mark.beacon, at: mark.time)
    switch mark.kind {
    case .enter: bytes += "{\"type\":\"enter\",\(head)}\n".utf8
    case .exit: bytes += "{\"type\":\"exit\",\(head)}\n".utf8
    case .zone(let zone, let distance):
      bytes += "{\"type\":\"zone\",\(head),\"proximity\":\"\(zone.rawValue)\"".utf8
      bytes += ",\"distance\":\(Self.text(distance))}\n".utf8
    }
  }

  /// Where a beacon is, in metres.
  func write(
    positionOf beacon: BeaconIdentity, _ distance: Double, at time: Int64, to bytes: inout [UInt8]
  ) {
    bytes += "{\"type\":\"position\",\(head(beacon, at: time))".utf8
    bytes += ",\"distance\":\(Self.text(distance))}\n".utf8
  }

  private func head(_ beacon: BeaconIdentity, at time: Int64) -> String {
    "\"time\":\"\(start.advanced(by: time * 1000))\",\"uuid\":\"\(beacon.uuid)\""
      + ",\"major\":\(beacon.major),\"minor\":\(beacon.minor)"
  }

  /// Metres with at most three decimals, the same on every machine.
  private static func text(_ metres: Double) -> String {
    let millimetres = Int((metres * 1000).rounded())
    var fraction = String(millimetres % 1000 + 1000).dropFirst()
    while fraction.last == "0" { fraction.removeLast() }
    return "\(millimetres / 1000)" + (fraction.isEmpty ? "" : ".\(fraction)")
  }
}
