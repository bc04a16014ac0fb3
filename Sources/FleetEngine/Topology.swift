/// The queues, streams and exchanges of a fleet on its engine.
enum Topology {
  /// The exchange of what receivers report by MQTT.
  static let reports = "amq.topic"
  /// A queue without messages. Each worker consumes it, so the engine knows how many there are.
  static let workers = "workers"

  /// The states that a register holds. A worker leaves one there; a write of an earlier worker that
  /// the engine delivers late, such as a node that was frozen, adds one and must not replace it.
  private static let registerLength: Int64 = 4

  /// How often a message may come back, since workers may fail. RabbitMQ 4 drops one that has come
  /// back 20 times where a queue states nothing; -1 is no limit there, and 0 in RabbitMQ 3.
  private static let deliveryLimit: Int64 = 1_000_000_000

  private typealias Arguments = [(StaticString, AMQPConnection.Argument)]

  private static func quorum(_ more: Arguments) -> Arguments {
    [
      ("x-queue-type", .text("quorum")), ("x-queue-leader-locator", .text("balanced")),
      ("x-delivery-limit", .number(deliveryLimit)),
    ] + more
  }

  private static func stream(keeping age: StaticString) -> Arguments {
    [
      ("x-queue-type", .text("stream")), ("x-queue-leader-locator", .text("balanced")),
      ("x-max-age", .text(age)),
      // The engine removes whole segments only.
      ("x-stream-max-segment-size-bytes", .number(50_000_000)),
    ]
  }

  /// Declares all that the shards need, by the registers' channel. What exists already stays.
  static func declare(
    _ shards: [Shard], on connection: AMQPConnection, confirmTime: Double
  ) throws(EngineError) {
    let channel = Register.channel
    for stream in FleetMessage.Stream.allCases {
      try connection.declareTopicExchange(stream.exchange, channel: channel)
      try connection.declareQueue(
        stream.queue, Self.stream(keeping: stream == .transitions ? "7D" : "1h"), channel: channel)
      try connection.bind(stream.queue, to: stream.exchange, "#", channel: channel)
    }
    try connection.declareQueue(workers, quorum([]), channel: channel)
    for shard in shards {
      // Reports are routed last, when all that processes them is there.
      try connection.declareQueue(
        shard.register,
        quorum([
          ("x-max-length", .number(registerLength)), ("x-overflow", .text("drop-head")),
        ]), channel: channel)
      // No worker can have stored a state before there are reports.
      if try connection.countQueue(shard.queue, channel: channel + 1) == nil {
        try Register(shard: shard, connection: connection, confirmTime: confirmTime).initialize()
      }
      try connection.declareQueue(shard.log, stream(keeping: "7D"), channel: channel)
      try connection.declareQueue(
        shard.queue, quorum([("x-single-active-consumer", .yes)]), channel: channel)
      try connection.bind(shard.log, to: reports, shard.binding, channel: channel)
      try connection.bind(shard.queue, to: reports, shard.binding, channel: channel)
    }
  }
}

extension FleetMessage.Stream {
  /// The exchange to which workers publish.
  var exchange: String { "fleet.\(queue)" }

  /// The stream that keeps the messages.
  var queue: String {
    switch self {
    case .transitions: "transitions"
    case .pictures: "pictures"
    }
  }
}
