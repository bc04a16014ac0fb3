package import FleetReports

/// One of the 64 parts of the fleet. All reports of a site belong to the same part.
package struct Shard: Hashable, Sendable {
  /// The number, from 0 to 63.
  package let number: Int

  /// Creates a shard, or `nil` if the number is not one from 0 to 63.
  package init?(number: Int) {
    guard (0..<FleetTopic.shards).contains(number) else { return nil }
    self.number = number
  }

  /// Creates the shard of a site.
  package init(ofSite site: String) { number = FleetTopic.shard(ofSite: site) }

  package static let all = (0..<FleetTopic.shards).compactMap { Shard(number: $0) }

  /// The number in two digits.
  package var name: String { FleetTopic.text(ofShard: number) }

  /// The queue of the reports to process.
  var queue: String { "site.\(name)" }
  /// The stream of the reports of the last seven days.
  package var log: String { "log.\(name)" }
  /// The queue that holds the newest state.
  var register: String { "state.\(name)" }
  /// The binding of ``queue`` and ``log`` to the exchange of MQTT.
  var binding: String { "fleet.\(name).*.*.seen" }
}

extension FleetTopic {
  /// Returns the AMQP routing key of a receiver's reports, in the exchange `amq.topic`.
  package static func routingKey(ofSite site: String, receiver: String) -> String {
    routingKey(of: reports(ofSite: site, receiver: receiver))
  }

  /// Returns the AMQP routing key of an MQTT topic, in the exchange `amq.topic`.
  package static func routingKey(of topic: String) -> String { topic.replacing("/", with: ".") }
}
