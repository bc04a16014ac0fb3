import Advertising
import Bytes
import HCIPackets

extension AdvertDescription {
  static func all(in bytes: [UInt8], as input: DecodeInput) -> [AdvertDescription] {
    // The span is over initialized bytes and does not outlive the array.
    let span = unsafe bytes.span.bytes
    var description = AdvertDescription(input: input)
    switch input {
    case .auto: return all(in: bytes, as: DecodeInput.guess(bytes))
    case .ad: description.read(advertisingData: span)
    case .manufacturer: description.read(manufacturerData: span)
    case .command:
      let length = Int(bytes.first ?? 0)
      description.read(
        advertisingData: span.extracting(droppingFirst: 1).extracting(first: length), base: 1)
    case .h4: return events(in: span)
    case .ll: return [packet(span)]
    }
    return [description]
  }

  private static func events(in packet: RawSpan) -> [AdvertDescription] {
    guard packet.littleEndian(UInt8.self, at: 0) == 0x04 else {
      return [AdvertDescription(.h4, "a host's packet or data: nothing in it was received")]
    }
    guard var event = AdvertisingEvent(packet, at: 1) else {
      return [AdvertDescription(.h4, "not an advertising event")]
    }
    var descriptions: [AdvertDescription] = []
    do throws(Refusal) {
      while !event.isExtended, let report = try event.nextReport() {
        descriptions.append(AdvertDescription(.h4, report))
      }
      while event.isExtended, let fragment = try event.nextFragment() {
        descriptions.append(AdvertDescription(.h4, fragment.report))
      }
    } catch {
      descriptions.append(AdvertDescription(.h4, error.explanation(of: 1)))
    }
    if descriptions.isEmpty { return [AdvertDescription(.h4, "an event without reports")] }
    return descriptions
  }

  private static func packet(_ packet: RawSpan) -> AdvertDescription {
    guard AdvertisingPDU.isAdvertising(packet) else {
      return AdvertDescription(.ll, "not a packet of the advertising channels")
    }
    do throws(Refusal) {
      guard let report = try AdvertisingPDU.read(packet, checksum: .unchecked, rssi: nil) else {
        return AdvertDescription(.ll, "a PDU without advertising data")
      }
      return AdvertDescription(.ll, report)
    } catch {
      return AdvertDescription(.ll, error.explanation(of: 1))
    }
  }

  private init(_ input: DecodeInput, _ problem: String) {
    self.init(input: input)
    report(problem, at: 0)
  }

  private init(_ input: DecodeInput, _ report: AdvertisingReport) {
    self.init(input: input)
    header = Header(
      address: report.address, addressType: report.addressType, eventType: report.eventType,
      rssi: report.rssi)
    read(advertisingData: report.data)
  }
}
