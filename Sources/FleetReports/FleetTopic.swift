/// The names of a fleet: sites, receivers, and the MQTT topics of their reports.
package enum FleetTopic {
  /// The number of shards, over which the sites are spread.
  package static let shards = 64
  package static let maximumNameLength = 64

  /// Returns whether a text can name a site or a receiver: 1 to 64 ASCII letters, digits, `_` and
  /// `-`.
  ///
  /// A dot cannot be in a name: RabbitMQ writes the levels of a topic with dots between them, so
  /// that a name with a dot would be two levels, and its reports would reach no queue.
  package static func isName(_ text: String) -> Bool {
    (1...maximumNameLength).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }

  /// Returns the shard of a site: the 32-bit FNV-1a hash of its name, modulo ``shards``.
  package static func shard(ofSite site: String) -> Int {
    Int(site.utf8.reduce(0x811C_9DC5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 }) % shards
  }

  /// Returns the two digits of a shard in topics.
  package static func text(ofShard shard: Int) -> String { shard < 10 ? "0\(shard)" : "\(shard)" }

  /// Returns the topic of a receiver's reports, for example `fleet/07/museum/hall-2/seen`.
  package static func reports(ofSite site: String, receiver: String) -> String {
    topic("seen", site, receiver)
  }

  /// Returns the topic of the configurations that a receiver takes, for example
  /// `fleet/21/museum/hall-2/configuration`.
  package static func configuration(ofSite site: String, receiver: String) -> String {
    topic("configuration", site, receiver)
  }

  private static func topic(_ kind: String, _ site: String, _ receiver: String) -> String {
    "fleet/\(text(ofShard: shard(ofSite: site)))/\(site)/\(receiver)/\(kind)"
  }
}
