package import Ranging
package import Scanning

extension IdentityFinding {
  /// A record of a problem with a beacon's identity, with the time at which it was found.
  package static let record = RecordType<(finding: IdentityFinding, time: WallClockTime)>(
    "identity", [Field("time", .time) { $0.time }], Field.identity { $0.finding.beacon },
    [
      Field("senders", each: Sender.record) { value in
        if case .severalSenders(let senders) = value.finding.problem { senders } else { [] }
      },
      Field("measuredPower", Schema.integer(-128...127).orNull) { value -> Int? in
        if case .measuredPower(let power, _) = value.finding.problem { Int(power) } else { nil }
      },
      Field("message", .text) { "\($0.finding)" },
    ])
}

extension IdentityFinding.Sender {
  fileprivate static let record = RecordType<IdentityFinding.Sender>(
    nil, Field.sender { ($0.address, $0.addressType) },
    [
      Field("rssi", Schema.number(-128...20).orNull, decimals: 1) { $0.rssi },
      Field("sightings", .count) { $0.sightings },
    ])
}
