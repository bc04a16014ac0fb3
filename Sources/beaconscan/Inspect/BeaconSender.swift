import Advertising
import Records
import Scanning

struct BeaconSender: Sendable {
  let address: BluetoothAddress
  let addressType: AddressType
  var sightings: Int
  /// The number of signal strengths, and their sum in dBm.
  var measured: Int
  var sum: Int

  var mean: Double? { measured > 0 ? Double(sum) / Double(measured) : nil }

  static let record = RecordType<BeaconSender>(
    nil, named: "sender",
    Field.sender { ($0.address, $0.addressType) },
    [
      Field("sightings", .count) { $0.sightings },
      Field("rssiMean", .number(-128...20).orNull, decimals: 2) { $0.mean },
    ])
}

struct SenderCensus {
  private static let (maximumIdentities, maximumSenders) = (1024, 16)

  private var senders: [BeaconIdentity: [BeaconSender]] = [:]

  /// Adds the sightings of a sender after which another one follows. Of many senders, those with
  /// the most sightings are kept.
  mutating func add(_ run: BeaconSender, of beacon: BeaconIdentity) {
    guard senders[beacon] != nil || senders.count < Self.maximumIdentities else { return }
    senders[beacon] = Self.adding(run, to: senders[beacon] ?? [])
  }

  func senders(of beacon: BeaconIdentity, _ statistics: BeaconStatistics) -> [BeaconSender] {
    Self.adding(statistics.sender, to: senders[beacon] ?? [])
      .sorted { ($1.sightings, $0.address.rawValue) < ($0.sightings, $1.address.rawValue) }
  }

  private static func adding(_ run: BeaconSender, to known: [BeaconSender]) -> [BeaconSender] {
    var known = known
    if let index = known.firstIndex(where: { $0.address == run.address }) {
      known[index].sightings += run.sightings
      known[index].measured += run.measured
      known[index].sum += run.sum
    } else {
      if known.count == maximumSenders,
        let least = known.indices.min(by: { known[$0].sightings < known[$1].sightings })
      {
        known.remove(at: least)
      }
      known.append(run)
    }
    return known
  }
}
