/// The queues, streams and exchanges of a fleet on its engine.
enum Topology {
  /// The exchange of what receivers report by MQTT.
  static let reports = "amq.topic"
  /// A queue without messages. Each worker consumes it, so the engine knows how many there are.
  static let workers = "workers"
  /// A queue of the connection that sets up the engine for a new fleet.
  private static let setUp = "set-up"

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
  ///
  /// A node that is killed soon after the declaration of a queue may know its name afterwards, and
  /// nothing else: such a quorum queue never has a leader again, and such a stream cannot even be
  /// deleted. So the exchanges and the bindings of a new fleet come when all queues are stored, and
  /// what a set-up without exchanges has left is declared anew.
  static func declare(
    _ configuration: EngineConfiguration, on connection: AMQPConnection
  ) throws(EngineError) {
    let channel = Register.channel
    var first: String?
    if try !isComplete(connection) {
      try lock(connection)
      // Another worker may have set it up until then.
      if try !isComplete(connection) { first = try begin(configuration, on: connection) }
      if first == nil { try connection.deleteQueue(setUp, channel: channel) }
    }
    try declareQueues(configuration, on: connection)
    if let first {
      _ = try connection.next(seconds: configuration.declareTime)
      try connection.deleteQueue(first, channel: channel)
    }
    for stream in FleetMessage.Stream.allCases {
      try connection.declareTopicExchange(stream.exchange, channel: channel)
      try connection.bind(stream.queue, to: stream.exchange, "#", channel: channel)
    }
    for shard in configuration.shards {
      // A report between the two is processed, and is not in the log.
      try connection.bind(shard.queue, to: reports, shard.binding, channel: channel)
      try connection.bind(shard.log, to: reports, shard.binding, channel: channel)
    }
    try connection.deleteQueue(setUp, channel: channel)
  }

  /// Declares the queues and streams, to which nothing is routed yet.
  static func declareQueues(
    _ configuration: EngineConfiguration, on connection: AMQPConnection
  ) throws(EngineError) {
    let channel = Register.channel
    for stream in FleetMessage.Stream.allCases {
      try connection.declareQueue(
        stream.queue, Self.stream(keeping: stream == .transitions ? "7D" : "1h"), channel: channel)
    }
    try connection.declareQueue(workers, quorum([]), channel: channel)
    for shard in configuration.shards {
      let states = try connection.declareQueue(
        shard.register,
        quorum([
          ("x-max-length", .number(registerLength)), ("x-overflow", .text("drop-head")),
        ]), channel: channel
      ).messages
      // No worker can have stored a state before there are reports. All workers declare a queue anew
      // that was deleted, and too many empty states would take the place of the newest.
      if states == 0, try connection.countQueue(shard.queue) == nil {
        try Register(
          shard: shard, connection: connection, confirmTime: configuration.answerTime
        ).initialize()
      }
      try connection.declareQueue(shard.log, stream(keeping: "7D"), channel: channel)
      try connection.declareQueue(
        shard.queue, quorum([("x-single-active-consumer", .yes)]), channel: channel)
    }
  }

  /// Begins the set-up of a new fleet. Returns the name of a stream for its time.
  ///
  /// The first stream starts what keeps all streams. Until that is stored, none that is needed is
  /// declared.
  static func begin(
    _ configuration: EngineConfiguration, on connection: AMQPConnection
  ) throws(EngineError) -> String {
    let channel = Register.channel
    var number = 1
    // One of a set-up that was interrupted cannot be declared again.
    while try connection.find(
      { channel throws(EngineError) in
        try connection.declareQueue("\(setUp).\(number)", stream(keeping: "1h"), channel: channel)
      }) == nil
    { number += 1 }
    _ = try connection.next(seconds: configuration.declareTime)
    for queue in [workers] + configuration.shards.flatMap({ [$0.register, $0.queue] }) {
      try connection.deleteQueue(queue, channel: channel)
    }
    return "\(setUp).\(number)"
  }

  /// Returns whether a set-up was completed: the exchanges come last.
  private static func isComplete(_ connection: AMQPConnection) throws(EngineError) -> Bool {
    let found: Void? = try connection.find { channel throws(EngineError) in
      for stream in FleetMessage.Stream.allCases {
        try connection.declareTopicExchange(stream.exchange, channel: channel, isPassive: true)
      }
    }
    return found != nil
  }

  /// Keeps other workers from the set-up, until the end of the connection at the latest.
  static func lock(_ connection: AMQPConnection) throws(EngineError) {
    do throws(EngineError) {
      try connection.declareQueue(setUp, [], channel: Register.channel, isExclusive: true)
    } catch {
      throw error.isLocked
        ? EngineError("another worker sets up the queues of the fleet, and this one waits") : error
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
