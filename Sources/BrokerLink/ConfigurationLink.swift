import Clocks
import FleetReports
import Synchronization

/// A connection that receives the fleet's configurations of this receiver.
///
/// It is another one than that of the reports, with a user of its own at RabbitMQ. An account that
/// may write `amq.topic` and has a queue, as a subscription needs it, can make an exchange of the
/// queue's name over AMQP, and publish through that for every receiver. And RabbitMQ ends a
/// connection that subscribes to what its user may not read.
final class ConfigurationLink: Sendable {
  private enum Subscription { case none, permitted, refused }

  private let connector: BrokerConnector
  private let topic: String
  private let subscription = Mutex(Subscription.none)

  /// Creates a link to the broker of a receiver's reports.
  ///
  /// - Throws: `BrokerError` if the configuration is not valid, or libmosquitto cannot be loaded.
  init(_ configuration: FleetConfiguration) throws(BrokerError) {
    let (site, receiver) = (configuration.site, configuration.receiver)
    topic = FleetTopic.configuration(ofSite: site, receiver: receiver)
    var broker = configuration.broker
    broker.client = FleetAccount.configurationClient(ofSite: site, receiver: receiver)
    let account = FleetAccount.user(ofSite: site, receiver: receiver)
    if broker.username == account { broker.username = FleetAccount.configurationUser(of: account) }
    connector = try BrokerConnector(
      broker, lastWill: nil, longestPayload: ConfigurationVersion.maximumLength + 1
    ) { _ in }
  }

  /// The reason that no configuration can be received now, or `nil`.
  var failure: String? {
    switch subscription.withLock(\.self) {
    case .none: connector.state.lastError
    case .permitted: nil
    case .refused: "the broker does not permit it; permit this receiver's user to read \(topic)"
    }
  }

  /// Starts to receive, unless it was started before.
  func start(_ receive: @escaping @Sendable ([UInt8]) -> Void) {
    connector.start { [self] session throws(MQTTClient.Failure) in
      let isPermitted = isPermitted(session)
      subscription.withLock { $0 = isPermitted ? .permitted : .refused }
      guard isPermitted else { return }
      defer { subscription.withLock { $0 = .none } }
      while !connector.thread.isStopping {
        // A retained one would come again with each connection. The fleet sends none.
        for message in session.takeMessages() where !message.isRetained && message.topic == topic {
          receive(message.payload)
        }
        try session.wait(seconds: .infinity, orUntil: connector.thread.wake)
      }
    }
  }

  /// Subscribes, and returns whether the broker permits that.
  private func isPermitted(_ session: MQTTClient) -> Bool {
    do throws(MQTTClient.Failure) {
      try session.subscribe(topic)
      while session.isPermitted == nil, !connector.thread.isStopping {
        try session.wait(seconds: .infinity, orUntil: connector.thread.wake)
      }
      return session.isPermitted == true
    } catch {
      // RabbitMQ ends the connection.
      return false
    }
  }

  func stop() { connector.stop(waiting: 0) }
}
