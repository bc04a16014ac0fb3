import Clocks
import FleetEngine
import FleetPage
import FleetReports
import FleetSites
import Fusion
import Synchronization

/// Sends their configurations to the receivers, from the files of a folder.
final class ConfigurationSender: Sendable {
  private struct State {
    var files: ReceiverSettings
    var rollouts: [String: Rollout] = [:]
    var waiting: [(routingKey: String, body: [UInt8])] = []
  }

  private let engine: EngineConfiguration
  private let state: Mutex<State>
  private let begin: AsyncStream<Void>.Continuation
  private let begun: AsyncStream<Void>

  init(_ engine: EngineConfiguration, folder: String) {
    self.engine = engine
    let files = ReceiverSettings(folder, maximumLength: ConfigurationVersion.maximumLength)
    Self.report(files)
    state = Mutex(State(files: files))
    (begun, begin) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  /// Publishes until the task is canceled. It connects when there is something to send.
  func run() async throws(EngineError) {
    for await _ in begun {
      let publisher = try ReportPublisher(engine, needsQueues: false, logger: .ofCommand) {
        [self] in
        let message = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
        return message.map { .report(routingKey: $0.routingKey, body: $0.body) } ?? .pause(0.5)
      }
      await publisher.run()
    }
  }

  /// Looks which receivers need another configuration, and which of them get it now.
  func update(from hub: FleetHub) {
    let places = hub.places
    state.withLock { state in
      if state.files.refresh() { Self.report(state.files) }
      state.rollouts = state.rollouts.filter { places[$0.key] != nil }
      guard !state.files.isEmpty || !state.rollouts.isEmpty else { return }
      for (site, place) in places {
        let texts = Dictionary(
          place.file.site.receivers.compactMap { receiver in
            state.files.text(of: receiver.name, at: place.file).map { (receiver.name, $0) }
          }, uniquingKeysWith: { $1 })
        let versions = texts.mapValues { ConfigurationVersion(of: $0).description }
        hub.set(wanted: versions, of: site)
        guard place.isCurrent, let receivers = place.receivers else { continue }
        for receiver in state.rollouts[site, default: Rollout()].next(
          receivers, wanted: versions, at: .now)
        {
          guard let text = texts[receiver] else { continue }
          let topic = FleetTopic.configuration(ofSite: site, receiver: receiver)
          state.waiting.append((FleetTopic.routingKey(of: topic), text))
          FleetError.warn(
            "sends \(site)/\(receiver) the configuration \(versions[receiver] ?? "")")
        }
      }
      if !state.waiting.isEmpty { begin.yield() }
    }
  }

  private static func report(_ files: ReceiverSettings) {
    for fault in files.faults { FleetError.warn("\(fault)") }
  }
}
