/// One of the 64 parts of the fleet. All reports of a site belong to the same part.
package struct Shard: Hashable, Sendable {
  package static let count = 64

  /// The number, from 0 to 63.
  package let number: Int

  /// Creates a shard, or `nil` if the number is not one from 0 to 63.
  package init?(number: Int) {
    guard (0..<Self.count).contains(number) else { return nil }
    self.number = number
  }

  /// Creates the shard of a site: the 64-bit FNV-1a of the site's name, modulo 64.
  package init(ofSite site: String) {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in site.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    number = Int(hash % UInt64(Self.count))
  }

  package static let all = (0..<count).compactMap { Shard(number: $0) }

  /// The number in two digits.
  package var name: String { (number < 10 ? "0" : "") + String(number) }

  /// The queue of the reports to process.
  var queue: String { "site.\(name)" }
  /// The stream of the reports of the last seven days.
  package var log: String { "log.\(name)" }
  /// The queue that holds the newest state.
  var register: String { "state.\(name)" }
  /// The binding of ``queue`` and ``log`` to the exchange of MQTT.
  var binding: String { "fleet.\(name).*.*.seen" }
}

/// The names under which a receiver reports. A site's or a receiver's name is a topic level.
package enum ReportName {
  /// The MQTT topic of a receiver's reports.
  package static func topic(site: String, receiver: String) -> String {
    "fleet/\(Shard(ofSite: site).name)/\(site)/\(receiver)/seen"
  }

  /// The AMQP routing key of a receiver's reports, in the exchange `amq.topic`.
  package static func routingKey(site: String, receiver: String) -> String {
    "fleet.\(Shard(ofSite: site).name).\(site).\(receiver).seen"
  }
}
