import Clocks
import FleetEngine
import FleetPage
import FleetReports
import FleetSites
import Fusion
import Synchronization

/// Sends their configurations to the receivers, from the files of a folder.
final class ConfigurationSender: Sendable {
  private typealias Message = (routingKey: String, body: [UInt8])

  /// The configurations of a site, as they follow from its file.
  private struct Wanted {
    var file: SiteFile
    var texts: [String: [UInt8]]
    var versions: [String: String]

    init(_ files: ReceiverSettings, _ file: SiteFile) {
      self.file = file
      texts = files.texts(at: file)
      versions = texts.mapValues { ConfigurationVersion(of: $0).description }
    }
  }

  private struct State {
    var files: ReceiverSettings
    var wanted: [String: Wanted] = [:]
    var rollouts: [String: Rollout] = [:]
    var waiting: [Message] = []
    /// The messages so far, of which the publisher counts those that the engine has.
    var count = 0
    var publisher: ReportPublisher?

    /// Whether the engine has all messages. Only then are there others, so few can become obsolete.
    var isIdle: Bool { waiting.isEmpty && publisher?.count ?? 0 >= count }
  }

  private let engine: EngineConfiguration
  private let state: Mutex<State>
  private let begin: AsyncStream<Void>.Continuation
  private let begun: AsyncStream<Void>

  init(_ engine: EngineConfiguration, folder: String) {
    self.engine = engine
    let files = ReceiverSettings(folder, maximumLength: ConfigurationVersion.maximumLength)
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
      state.withLock { $0.publisher = publisher }
      await publisher.run()
    }
  }

  /// Determines which receivers need another configuration, and which of them get it now.
  func update(from hub: FleetHub) {
    let places = hub.places
    state.withLock { state in
      let hasChanged = state.files.refresh()
      if hasChanged {
        for fault in state.files.faults { FleetError.warn("\(fault)") }
        for name in state.files.strays(besides: places.values.map(\.file)) {
          FleetError.warn("\(state.files.path)/\(name) is for no receiver of a site file")
        }
      }
      state.rollouts = state.rollouts.filter { places[$0.key] != nil }
      state.wanted = state.wanted.filter { places[$0.key] != nil }
      guard !state.files.isEmpty || !state.wanted.isEmpty else { return }
      for (site, place) in places {
        if hasChanged || state.wanted[site]?.file != place.file {
          let wanted = Wanted(state.files, place.file)
          state.wanted[site] = wanted
          hub.set(wanted: wanted.versions, of: site)
        }
      }
      guard state.isIdle else { return }
      for (site, place) in places where place.isCurrent {
        guard let receivers = place.receivers, let wanted = state.wanted[site] else { continue }
        var rollout = state.rollouts[site, default: Rollout()]
        let names = rollout.next(receivers, wanted: wanted.versions, at: .now)
        state.rollouts[site] = rollout
        hub.set(untaken: rollout.untaken, of: site)
        for name in names {
          guard let text = wanted.texts[name], let version = wanted.versions[name] else { continue }
          let topic = FleetTopic.configuration(ofSite: site, receiver: name)
          state.waiting.append((FleetTopic.routingKey(of: topic), text))
          FleetError.warn("sends \(site)/\(name) the configuration \(version)")
        }
      }
      state.count += state.waiting.count
      if !state.waiting.isEmpty { begin.yield() }
    }
  }
}
