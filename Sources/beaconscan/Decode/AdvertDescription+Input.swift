import Advertising
import Bytes
import HCIPackets
import LinkLayer

extension AdvertDescription {
  /// Takes bytes of a kind apart: a description for each advert in them, or one that says what is
  /// wrong.
  static func all(in bytes: [UInt8], as input: DecodeInput) -> [AdvertDescription] {
    // The span is over initialised bytes and does not outlive the array.
    let span = unsafe bytes.span.bytes
    var description = AdvertDescription(input: input)
    switch input {
    case .auto: return all(in: bytes, as: DecodeInput.guess(bytes))
    case .ad: description.read(advertisingData: span)
    case .manufacturer: description.read(manufacturerData: span)
    case .command:
      let length = Int(bytes.first ?? 0)
      description.read(advertisingData: span.extracting(droppingFirst: 1).extracting(first: length), base: 1)
    case .h4:
      var sink = Describer(input: input)
      guard bytes.first == 0x04 else {
        sink.note("a host's packet or data: nothing in it was heard")
        return sink.descriptions
      }
      var decoder = HCIEventDecoder()
      if !decoder.decode(event: span.extracting(droppingFirst: 1), at: 0, into: &sink) {
        sink.note("not an advertising event")
      }
      return sink.descriptions
    case .ll:
      var sink = Describer(input: input)
      if !AdvertisingPDUDecoder.decode(packet: span, checksum: .unchecked, rssi: nil, into: &sink) {
        sink.note("not a packet of the advertising channels")
      }
      if sink.descriptions.isEmpty { sink.note("a PDU without advertising data") }
      return sink.descriptions
    }
    return [description]
  }
}

/// Describes the reports of a packet. Offsets count from the report's advertising data.
private struct Describer: AdvertisingReportSink {
  let input: DecodeInput
  var descriptions: [AdvertDescription] = []

  mutating func heard(_ report: AdvertisingReport) {
    var description = AdvertDescription(input: input)
    description.header = AdvertDescription.Header(
      address: report.address, addressType: report.addressType, eventType: report.eventType,
      rssi: report.rssi)
    description.read(advertisingData: report.data)
    descriptions.append(description)
  }

  mutating func refused(_ refusal: Refusal) {
    note(refusal.explanation)
  }

  mutating func note(_ reason: String) {
    var description = AdvertDescription(input: input)
    description.problems.append(AdvertDescription.Problem(offset: 0, reason: reason))
    descriptions.append(description)
  }
}
