import Clocks
import FleetReports
import FoundationEssentials
import Storage

/// The configuration that a fleet sends to this receiver, in a file.
///
/// A new one is announced in the reports, tried, and then kept. If the receiver does not work with
/// it, or its process is killed meanwhile, the one before is used again, and the new one is refused.
package struct FleetSettings: Sendable {
  /// The seconds after which a configuration is given up with which no report was acknowledged.
  static let patience = 600.0
  /// The events that wait for the next report at most.
  private static let maximumEvents = 10

  private struct Stored: Codable {
    /// The text in use.
    var text: String?
    /// The text that is tried.
    var trial: String?
    var refused: String?
    var reason: String?
  }

  private struct Text: Sendable {
    var bytes: [UInt8]
    var version: ConfigurationVersion

    init(_ bytes: [UInt8]) {
      self.bytes = bytes
      version = ConfigurationVersion(of: bytes)
    }
  }

  private enum Step: Sendable {
    /// It is tried when a report has been acknowledged.
    case announced(report: Int)
    /// It is kept when the time has passed and a later report has been acknowledged.
    case tried(since: MonotonicTime, report: Int, wasReceiving: Bool)
  }

  /// What to do with a text: none is that of the receiver's own files.
  struct Change: Sendable {
    var text: [UInt8]?
    fileprivate var isTrial: Bool
  }

  /// The seconds for which a configuration is tried.
  var trialTime = 60.0
  private let path: String
  private var kept: Text?
  /// Whether the kept text is used.
  private var isUsed = true
  private var trial: (text: Text, step: Step)?
  private var refusal: ReceiverReport.Configuration.Refusal?
  /// The time since which nothing is received.
  private var lostSince: MonotonicTime?
  /// Whether the file has what it is to have.
  private var isStored = true
  /// Whether the text before could not be used again.
  private var isAstray = false
  private var events: [FleetEvent] = []

  /// Reads the file, which need not exist.
  package init(_ path: String) {
    self.path = path
    guard let bytes = FileManager.default.contents(atPath: path) else { return }
    guard let stored = try? JSONDecoder().decode(Stored.self, from: bytes) else {
      events = [.refused("\(path) does not hold a configuration, and is not used")]
      return
    }
    kept = stored.text.map { Text(Array($0.utf8)) }
    if let version = stored.refused.flatMap({ ConfigurationVersion($0) }), version != kept?.version
    {
      refusal = ReceiverReport.Configuration.Refusal(version, stored.reason ?? "")
    }
    if let text = stored.trial {
      refuse(Text(Array(text.utf8)).version, "the service ended while it was tried")
      // Another process may use the file until this one has the outbox.
      isStored = false
    }
  }

  /// The text in use; `nil` if there is none.
  package var text: [UInt8]? {
    if case (let text, .tried)? = trial { return text.bytes }
    return usedText?.bytes
  }

  private var usedText: Text? { isUsed ? kept : nil }

  var state: ReceiverReport.Configuration {
    ReceiverReport.Configuration(
      version: usedText?.version, trial: trial?.text.version, refusal: refusal)
  }

  /// Marks the kept text as one that cannot be used. The next start tries it again.
  package mutating func refuseKept(_ reason: String) {
    guard let kept else { return }
    isUsed = false
    refuse(kept.version, reason)
  }

  /// Returns the events since the last call.
  mutating func takeEvents() -> [FleetEvent] {
    defer { events = [] }
    return events
  }

  /// Takes a text that the fleet has sent, with the number of the next report that states it. One
  /// that is known is left out, and so is another one during a trial: the fleet sends it again.
  mutating func receive(_ bytes: [UInt8], next report: Int) {
    let text = Text(bytes)
    guard trial == nil, text.version != usedText?.version, text.version != refusal?.version else {
      return
    }
    guard bytes.count <= ConfigurationVersion.maximumLength,
      String(validating: bytes, as: UTF8.self) != nil
    else {
      refuse(
        text.version,
        "it is not text in UTF-8 of at most \(ConfigurationVersion.maximumLength >> 20) MiB")
      return
    }
    trial = (text, .announced(report: report))
  }

  /// Returns the text to use from now on, if that changes. The numbers are those of the last report
  /// that was made, and of the last one that was acknowledged.
  mutating func next(
    at now: MonotonicTime, made: Int, acknowledged: Int, receptionLost: String?
  ) -> Change? {
    if !isStored { store() }
    lostSince = receptionLost == nil ? nil : lostSince ?? now
    if isAstray { return Change(text: usedText?.bytes, isTrial: false) }
    guard let (text, step) = trial else { return nil }
    switch step {
    case .announced(let report):
      guard acknowledged >= report else { return nil }
      trial = (
        text, .tried(since: now, report: made + 1, wasReceiving: receptionLost == nil)
      )
      // If the process ends now, the next one finds it. While the disk is full, it waits.
      guard store() else {
        trial = (text, step)
        return nil
      }
      return Change(text: text.bytes, isTrial: true)
    case .tried(let since, let report, let wasReceiving):
      let passed = now.seconds(since: since)
      guard passed >= trialTime else { return nil }
      if let receptionLost, let lostSince, wasReceiving {
        // Other faults are often over soon.
        guard now.seconds(since: lostSince) >= trialTime else { return nil }
        giveUp(text.version, "nothing is received with it: \(receptionLost)")
      } else if acknowledged >= report {
        kept = text
        (isUsed, trial, refusal) = (true, nil, nil)
        events.append(.configured("the fleet's configuration \(text.version) is kept"))
        store()
        return nil
      } else if passed >= Self.patience {
        giveUp(text.version, "no report was acknowledged with it for ten minutes")
      } else {
        return nil
      }
      return Change(text: usedText?.bytes, isTrial: false)
    }
  }

  /// Takes the result of a change: the reason that it was not possible, or `nil`. Returns another
  /// change if the text before is to be used again.
  mutating func finish(_ change: Change, failure: String?) -> Change? {
    if change.isTrial {
      guard let failure, let trial else { return nil }
      giveUp(trial.text.version, failure)
      // A part of the text may be in use.
      return Change(text: usedText?.bytes, isTrial: false)
    }
    if let failure, !isAstray {
      events.append(
        .refused("the configuration before the fleet's cannot be used again: \(failure)"))
    }
    isAstray = failure != nil
    return nil
  }

  /// Ends a trial that nothing is wrong with, as the process ends. The fleet sends the text again.
  mutating func stop() {
    guard trial != nil else { return }
    trial = nil
    store()
  }

  private mutating func giveUp(_ version: ConfigurationVersion, _ reason: String) {
    trial = nil
    refuse(version, reason)
    store()
  }

  private mutating func refuse(_ version: ConfigurationVersion, _ reason: String) {
    refusal = ReceiverReport.Configuration.Refusal(version, reason)
    guard events.count < Self.maximumEvents else { return }
    events.append(.refused("the fleet's configuration \(version) is not used: \(reason)"))
  }

  /// Writes the file, and returns whether that was possible. It is tried again each second.
  @discardableResult private mutating func store() -> Bool {
    do throws(StorageError) {
      try StatePath.replace(path, with: bytes)
      isStored = true
    } catch {
      if isStored {
        events.append(.refused("the fleet's configuration cannot be stored: \(error)"))
      }
      isStored = false
    }
    return isStored
  }

  private var bytes: [UInt8] {
    var stored = Stored()
    stored.text = kept.map { String(decoding: $0.bytes, as: UTF8.self) }
    if case (let text, .tried)? = trial {
      stored.trial = String(decoding: text.bytes, as: UTF8.self)
    }
    stored.refused = refusal.map { "\($0.version)" }
    stored.reason = refusal?.reason
    // Texts can always be encoded.
    return (try? JSONEncoder().encode(stored)).map(Array.init) ?? []
  }
}
