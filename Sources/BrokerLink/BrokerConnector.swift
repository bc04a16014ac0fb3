import Clocks
import Synchronization

/// A thread that connects to a broker again and again, and uses each connection.
final class BrokerConnector: Sendable {
  struct State {
    var isConnected = false
    var connections = 0
    var lastError: String?
    /// The last error reported since a connection.
    fileprivate var reported: String?
  }

  private let configuration: BrokerConfiguration
  private let library: MosquittoLibrary
  private let lastWill: String?
  private let longestPayload: Int
  private let report: @Sendable (BrokerEvent) -> Void
  private let shared = Mutex(State())
  let thread = WorkerThread()

  private static let answerTime = 15.0
  /// The seconds that a connection must last to reset the delay to the shortest.
  private static let stableTime = 30.0

  /// Creates a connector, which reports on its thread. The broker publishes `offline` under the
  /// topic of the last will, if there is one, when a connection is lost. Of a message's payload the
  /// first bytes are kept, up to a number.
  ///
  /// - Throws: `BrokerError` if the configuration is not valid or libmosquitto cannot be loaded.
  init(
    _ configuration: BrokerConfiguration, lastWill: String?, longestPayload: Int = 64,
    report: @escaping @Sendable (BrokerEvent) -> Void
  ) throws(BrokerError) {
    try configuration.check()
    library = try MosquittoLibrary.shared.get()
    self.configuration = configuration
    self.lastWill = lastWill
    self.longestPayload = longestPayload
    self.report = report
  }

  var state: State { shared.withLock { $0 } }

  /// Starts to connect, unless it was started before. The function uses a connection until it
  /// ends or the thread is stopped. The thread retains the function.
  func start(_ use: @escaping @Sendable (MQTTClient) throws(MQTTClient.Failure) -> Void) {
    guard !thread.start({ [self] in run(use) }) else { return }
    fail("no thread can be started for the MQTT link; end other programs, or raise their limit")
  }

  /// Ends the use of a connection, and waits for that. An attempt to connect may block for longer:
  /// the thread ends after it.
  func stop(waiting seconds: Double) {
    thread.requestStop()
    if state.isConnected { thread.waitForEnd(seconds: seconds) }
  }

  private func run(_ use: (MQTTClient) throws(MQTTClient.Failure) -> Void) {
    var backoff = Backoff(
      first: Int64(configuration.reconnectDelay.lowerBound * 1e9),
      longest: Int64(configuration.reconnectDelay.upperBound * 1e9))
    while !thread.isStopping {
      if connect(use) >= Self.stableTime { backoff.reset() }
      // The factor keeps clients of one failed broker from returning at the same time.
      let wait = Double(backoff.next()) * .random(in: 0.75...1)
      let deadline = MonotonicTime.now.advanced(by: Int64(wait))
      while !thread.isStopping {
        let left = deadline.nanoseconds(since: .now)
        guard left > 0 else { break }
        thread.wake.wait(nanoseconds: left)
      }
    }
  }

  private func fail(_ sentence: String) {
    let isNew = shared.withLock { state in
      state.lastError = sentence
      defer { state.reported = sentence }
      return state.reported != sentence
    }
    if isNew { report(.failed(sentence)) }
  }

  /// Connects, and uses the connection. Returns its duration, in seconds.
  private func connect(_ use: (MQTTClient) throws(MQTTClient.Failure) -> Void) -> Double {
    let session: MQTTClient
    do throws(MQTTClient.Failure) {
      session = try MQTTClient(
        configuration, library, lastWill: lastWill, longestPayload: longestPayload)
    } catch {
      fail(configuration.sentence(for: error, log: nil))
      return 0
    }
    do throws(MQTTClient.Failure) {
      let deadline = try session.connect().advanced(bySeconds: Self.answerTime)
      while session.answer == nil, !thread.isStopping {
        let left = deadline.seconds(since: .now)
        guard left > 0 else {
          fail(configuration.sentenceForNoAnswer)
          return 0
        }
        try session.wait(seconds: left, orUntil: thread.wake)
      }
    } catch {
      // libmosquitto also reports a refusal as an error.
      guard session.answer ?? 0 != 0 else {
        fail(configuration.sentence(for: error, log: session.log))
        return 0
      }
    }
    guard let answer = session.answer else { return 0 }
    guard answer == 0 else {
      fail(configuration.sentence(forAnswer: answer))
      return 0
    }
    let began = MonotonicTime.now
    shared.withLock { state in
      state.isConnected = true
      state.connections += 1
      state.reported = nil
    }
    report(.connected)
    var loss: String?
    do throws(MQTTClient.Failure) {
      try use(session)
      session.disconnect()
    } catch {
      loss = configuration.sentence(forLoss: error, log: session.log)
    }
    shared.withLock { $0.isConnected = false }
    if let loss { fail(loss) }
    return MonotonicTime.now.seconds(since: began)
  }
}
