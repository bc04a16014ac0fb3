import Clocks
import Logging

/// A worker's work on one connection, by one thread. It ends with the connection, and with it
/// everything that the worker knows of its shards.
final class WorkerSession<Processor: ShardProcessor> {
  private static var channelOfWorkers: UInt16 { 2 }
  /// The seconds between two looks at what is due.
  private static var turnTime: Double { 0.05 }
  /// The seconds between two looks at silent shards: the engine may be slow.
  private static var lookTime: Double { 0.5 }
  /// The seconds until a shard is tried again whose state another worker's connection still holds.
  private static var holdTime: Double { 0.2 }
  /// The seconds until a shard is tried again whose state this version cannot read.
  private static var awayTime: Double { 60 }

  private let connection: AMQPConnection
  private let configuration: EngineConfiguration
  private let logger: Logger
  private let context: Processor.Context
  private let isStopping: () -> Bool
  private let count: ((inout ShardWorker<Processor>.Status) -> Void) -> Void
  /// The shards of the open channels.
  private var shards: [UInt16: Shard] = [:]
  /// The shards that have reports at present, by channel.
  private var flows: [UInt16: ShardFlow<Processor>] = [:]
  /// The shards that are tried again later.
  private var away: [(shard: Shard, until: MonotonicTime)] = []
  /// The shards without a state, since when.
  private var missing: [Shard: (since: MonotonicTime, last: MonotonicTime)] = [:]
  /// The last report of a channel, or its opening.
  private var heard: [UInt16: MonotonicTime] = [:]
  /// The last look at a silent shard.
  private var looked = MonotonicTime.now
  /// The seconds of waits for confirms since the last sweep.
  private var waited = 0.0

  init(
    _ connection: AMQPConnection, _ configuration: EngineConfiguration, _ logger: Logger,
    context: Processor.Context, isStopping: @escaping () -> Bool,
    count: @escaping ((inout ShardWorker<Processor>.Status) -> Void) -> Void
  ) {
    self.connection = connection
    self.configuration = configuration
    self.logger = logger
    self.context = context
    self.isStopping = isStopping
    self.count = count
  }

  func declare() throws(EngineError) {
    try openRegister()
    try Topology.declare(configuration, on: connection)
    try connection.closeChannel(Register.channel)
  }

  /// Works until the connection ends or the worker is to stop.
  func serve() throws(EngineError) {
    try openRegister()
    try connection.openChannel(Self.channelOfWorkers)
    try connection.consume(Topology.workers, prefetch: 1, channel: Self.channelOfWorkers)
    for shard in configuration.shards.shuffled() { try subscribe(shard) }
    var swept = MonotonicTime.now
    var balanced = swept
    var pause = configuration.balanceInterval
    while !isStopping() {
      let next = try connection.next(seconds: Self.turnTime)
      let now = MonotonicTime.now
      // The engine has given the shards to others while this process stood still.
      let gap = now.seconds(since: swept) - waited
      guard gap < Double(2 * configuration.heartbeat) else {
        throw EngineError("this process stood still for \(Int(gap)) s and gives up its shards")
      }
      if let (channel, report) = next { try process(report, channel, at: now) }
      guard next == nil || now.seconds(since: swept) >= Self.turnTime else { continue }
      swept = now
      waited = 0
      try sweep(at: now)
      if now.seconds(since: balanced) >= pause {
        balanced = now
        pause = configuration.balanceInterval * .random(in: 0.75...1.25)
        try balance()
      }
    }
    for channel in flows.keys { try store(channel) }
  }

  private func openRegister() throws(EngineError) {
    try connection.openChannel(Register.channel)
    try connection.confirmPublications(Register.channel)
  }

  private func subscribe(_ shard: Shard) throws(EngineError) {
    let channel = try connection.openChannel()
    try connection.confirmPublications(channel)
    try connection.consume(shard.queue, prefetch: configuration.prefetch, channel: channel)
    shards[channel] = shard
    heard[channel] = .now
  }

  private func waitForConfirms(_ channel: UInt16) throws(EngineError) {
    let start = MonotonicTime.now
    try connection.waitForConfirms(seconds: confirmTime, channel: channel)
    waited += min(confirmTime, MonotonicTime.now.seconds(since: start))
    flows[channel]?.confirmed()
  }

  private var confirmTime: Double { isStopping() ? 0.5 : configuration.confirmTime }

  private func register(of shard: Shard) -> Register {
    Register(shard: shard, connection: connection, confirmTime: confirmTime)
  }

  private func process(
    _ report: Delivery, _ channel: UInt16, at now: MonotonicTime
  ) throws(EngineError) {
    guard let shard = shards[channel] else { return }
    heard[channel] = now
    if flows[channel] == nil {
      guard let flow = try begin(shard, channel, at: now) else { return }
      flows[channel] = flow
    }
    var published: [FleetMessage.Stream: Int] = [:]
    var unpublished = 0
    for message in flows[channel]?.process(report, at: now) ?? [] {
      guard max(message.id.utf8.count, message.routingKey.utf8.count) <= 255 else {
        unpublished += 1
        continue
      }
      if connection.countUnconfirmed(channel) == 0 {
        flows[channel]?.confirmed()
      } else if flows[channel]?.mustWait(before: message) == true {
        try waitForConfirms(channel)
      }
      try connection.publish(
        to: message.stream.exchange, message.routingKey, id: message.id, message.body,
        channel: channel)
      flows[channel]?.published(message)
      published[message.stream, default: 0] += 1
    }
    count { status in
      status.reports += 1
      status.transitions += published[.transitions] ?? 0
      status.unpublished += unpublished
    }
    // Half of the reports that the engine delivers without an acknowledgment.
    if flows[channel]?.isDue(
      after: configuration.storeInterval, limit: Int(configuration.prefetch / 2), at: .now) == true
    {
      try store(channel)
    }
  }

  /// Restores a shard's processor and stores its state under a new generation, so that no earlier
  /// worker can replace it. Returns `nil` if it leaves the shard for a time.
  private func begin(
    _ shard: Shard, _ channel: UInt16, at now: MonotonicTime
  ) throws(EngineError) -> ShardFlow<Processor>? {
    let register = register(of: shard)
    let stored = try register.take()
    guard !stored.isEmpty || lacksState(shard, at: now) else {
      try leave(channel, until: now.advanced(bySeconds: Self.holdTime))
      return nil
    }
    missing[shard] = nil
    let processor: Processor
    do {
      processor = try Processor(shard: shard.number, state: stored.state, context: context)
    } catch {
      logger.error(
        """
        the state of shard \(shard.name) cannot be read, so it is left to other workers: \(error)
        """)
      // The engine gives the state back.
      try connection.closeChannel(Register.channel)
      try openRegister()
      try leave(channel, until: now.advanced(bySeconds: Self.awayTime))
      return nil
    }
    let version = StateVersion(
      generation: stored.version.generation &+ 1, number: stored.version.number &+ 1)
    try register.put(processor.encodedState(), version, inPlaceOf: stored)
    return ShardFlow(processor, version, at: now)
  }

  /// Returns whether a shard's register has been empty for so long that no worker holds its state.
  private func lacksState(_ shard: Shard, at now: MonotonicTime) -> Bool {
    var since = now
    // Another worker may have had the shard since an earlier look.
    if let earlier = missing[shard], now.seconds(since: earlier.last) < 50 * Self.holdTime {
      since = earlier.since
    }
    missing[shard] = (since, now)
    guard now.seconds(since: since) >= configuration.registerWait else { return false }
    logger.error("shard \(shard.name) has lost its state, and begins with nothing")
    return true
  }

  /// Stores a shard's state after its transitions, and acknowledges the reports that it has.
  private func store(_ channel: UInt16) throws(EngineError) {
    guard let shard = shards[channel], let flow = flows[channel], flow.hasNews else { return }
    try waitForConfirms(channel)
    let register = register(of: shard)
    let old = try register.take()
    guard old.version <= flow.version else {
      throw EngineError("another worker has shard \(shard.name), so this one gives up its shards")
    }
    let (state, version) = flow.upcoming()
    try register.put(state, version, inPlaceOf: old)
    if let tag = flows[channel]?.stored(version) {
      try connection.acknowledge(upTo: tag, channel: channel)
    }
    count { $0.storedStates += 1 }
  }

  private func sweep(at now: MonotonicTime) throws(EngineError) {
    for (channel, flow) in flows {
      if flow.isDue(after: configuration.storeInterval, limit: .max, at: now) {
        try store(channel)
      } else if !flow.hasNews, now.seconds(since: flow.lastReport) > configuration.idleTime {
        // Another worker may have had the shard when its reports come again.
        flows[channel] = nil
      }
    }
    for (shard, _) in away.filter({ $0.until <= now }) { try subscribe(shard) }
    away.removeAll { $0.until <= now }
    if now.seconds(since: looked) >= Self.lookTime,
      let (channel, _) = heard.first(where: { channel, time in
        flows[channel] == nil && now.seconds(since: time) > configuration.silenceTime
      })
    {
      looked = now
      try renew(channel, at: now)
    }
    count { [shards, flows] in $0.shards = flows.keys.compactMap { shards[$0]?.number }.sorted() }
  }

  /// Gives shards to other workers if this one has more than its share.
  private func balance() throws(EngineError) {
    let workers = try connection.declareQueue(
      Topology.workers, [], channel: Register.channel, isPassive: true
    ).consumers
    let used = min(configuration.shards.count, Processor.shardsInUse(context))
    let share = (used + max(workers, 1) - 1) / max(workers, 1)
    guard workers > 1, flows.count > share else { return }
    for channel in flows.keys.prefix(flows.count - share) {
      guard let shard = shards[channel] else { continue }
      try store(channel)
      try leave(channel)
      // After the others.
      try subscribe(shard)
    }
  }

  /// Subscribes to a silent shard anew if the engine has reports of it. It may have forgotten the
  /// consumer, or it gives them to another worker, behind which this one then queues again.
  private func renew(_ channel: UInt16, at now: MonotonicTime) throws(EngineError) {
    guard let shard = shards[channel] else { return }
    heard[channel] = now
    guard try !connection.hasReceived(on: channel) else { return }
    let waiting = try connection.declareQueue(
      shard.queue, [], channel: Register.channel, isPassive: true
    ).messages
    guard waiting > 0 else { return }
    try leave(channel)
    try subscribe(shard)
  }

  /// Ends a shard's consumer. The engine delivers what was not acknowledged to the next one.
  private func leave(_ channel: UInt16) throws(EngineError) {
    try connection.closeChannel(channel)
    flows[channel] = nil
    shards[channel] = nil
    heard[channel] = nil
  }

  private func leave(_ channel: UInt16, until time: MonotonicTime) throws(EngineError) {
    guard let shard = shards[channel] else { return }
    try leave(channel)
    away.append((shard, time))
  }
}
