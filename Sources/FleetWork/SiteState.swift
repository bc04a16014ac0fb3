import Clocks
import FleetPicture
import FleetReports
import Fusion

/// A site with what its worker knows of its receivers.
struct SiteState {
  fileprivate struct Receiver {
    var last: WallClockTime?
    var reception = ReceiverReport.Reception.receiving
    var beacons = 0
    var configuration: SitePicture.Receiver.Configuration?
    /// The reason that a report could not be used, and when it came.
    var refusal: (sentence: String, time: MonotonicTime)?
  }

  /// The seconds for which a refusal is shown.
  private static let refusalTime = 60.0
  private static let fastTime = """
    its time advances faster than that of the other receivers, because it or another one with its \
    name reports more than once a second
    """
  /// The seconds without a report that can be used after which a site whose reports are refused is
  /// shown nevertheless, and those between two of these pictures.
  private static let refusedInterval = 10.0

  /// The most receivers that the file does not have whose names are kept.
  private static let maximumStrangers = 100

  var fusion: SiteFusion
  let revision: UInt64
  /// The second of the last picture.
  var pictured: Int64?
  private var receivers: [String: Receiver]
  private var strangers: Set<String> = []
  private(set) var refused = 0
  /// The time of the last report that could be used or, with a state of such, of the beginning.
  private var accepted: MonotonicTime?
  /// The time of the last picture of a site whose reports are refused.
  private var refusedPicture: MonotonicTime?
  private let library: SiteLibrary

  init(_ entry: SiteLibrary.Entry, fusion: SiteFusion, in library: SiteLibrary) {
    self.fusion = fusion
    self.library = library
    accepted = fusion.second == nil ? nil : library.now()
    // A state has no estimates: the next picture is that of the next second.
    pictured = fusion.second
    revision = entry.revision
    receivers = Dictionary(
      entry.model.site.receivers.map { ($0.name, Receiver()) }, uniquingKeysWith: { $1 })
  }

  /// What the shard's state has of the site.
  var stored: SiteShard.Stored {
    SiteShard.Stored(revision: revision, state: fusion.encodedState())
  }

  mutating func receive(_ report: ReceiverReport) -> [RoomChange] {
    if receivers[report.receiver] == nil { add(stranger: report.receiver) }
    receivers[report.receiver]?.receive(report)
    accepted = library.now()
    return fusion.receive(ReceiverSecond(report)).map { $0.change(site: report.site) }
  }

  /// Limits the bytes of the state. Returns the changes of room of what has to go for it.
  mutating func limit(to size: Int, of name: String) -> [RoomChange] {
    fusion.limit(to: size).map { $0.change(site: name) }
  }

  /// Returns whether a picture shows now that reports of the site are refused, because no report
  /// that can be used gives one.
  mutating func showsRefusal() -> Bool {
    let now = library.now()
    for time in [accepted, refusedPicture].compactMap(\.self)
    where now.seconds(since: time) < Self.refusedInterval { return false }
    refusedPicture = now
    return true
  }

  /// Counts a report that cannot be used, and keeps the reason for a while.
  mutating func refuse(_ sentence: String, of receiver: String) {
    refused += 1
    if receivers[receiver] == nil { add(stranger: receiver) }
    receivers[receiver]?.refusal = (sentence, library.now())
  }

  private mutating func add(stranger: String) {
    if strangers.count < Self.maximumStrangers { strangers.insert(stranger) }
  }

  func pictures(of name: String, second: Int64) -> [SitePicture] {
    let missing = Set(fusion.missing)
    let now = library.now()
    let receivers = fusion.model.site.receivers.map { site in
      let receiver = self.receivers[site.name]
      let difference = fusion.clockDifference(of: site.name)
      let refusal = receiver?.refusal.flatMap {
        now.seconds(since: $0.time) < Self.refusalTime ? $0.sentence : nil
      }
      let isFast = fusion.runsAhead(site.name)
      return SitePicture.Receiver(
        name: site.name, lastReport: receiver?.last.map { "\($0)" },
        isMissing: missing.contains(site.name), receptionLost: receiver?.reception.reason,
        beacons: receiver?.beacons ?? 0,
        clockDifference: difference == 0 ? nil : Double(difference),
        refusal: refusal ?? (isFast ? Self.fastTime : nil),
        configuration: receiver?.configuration)
    }
    let beacons = fusion.estimates.sorted { $0.beacon < $1.beacon }.map(SitePicture.Beacon.init)
    let most = SitePicture.maximumBeacons
    let parts = max(1, (beacons.count + most - 1) / most)
    return (0..<parts).map { part in
      SitePicture(
        site: name, time: WallClockTime(second: second).description, part: part, parts: parts,
        receivers: receivers, beacons: Array(beacons.dropFirst(part * most).prefix(most)),
        strangers: strangers.sorted(), ignored: fusion.ignored + refused,
        fault: fault(second: second))
    }
  }

  /// The reason that beacons are missing, for a minute.
  private func fault(second: Int64) -> String? {
    guard let last = fusion.excessSecond, abs(second - last) < 60 else { return nil }
    return """
      there are too many beacons: \(fusion.count) have all the room that the site's state may have, \
      \(fusion.maximumSize / 1000) kB, and \(fusion.excess) times one was forgotten or not taken; \
      limit the receivers to the fleet's beacons by --fleet-uuid
      """
  }
}

extension SiteState.Receiver {
  mutating func receive(_ report: ReceiverReport) {
    last = report.time
    reception = report.reception
    beacons = report.beacons.count
    configuration = SitePicture.Receiver.Configuration(report.configuration)
  }
}

extension SitePicture.Receiver.Configuration {
  fileprivate init?(_ configuration: ReceiverReport.Configuration) {
    guard configuration != ReceiverReport.Configuration() else { return nil }
    self.init(
      version: configuration.version?.description, trial: configuration.trial?.description,
      refused: configuration.refusal?.version.description, reason: configuration.refusal?.reason)
  }
}

extension ReceiverReport.Reception {
  fileprivate var reason: String? { if case .lost(let reason) = self { reason } else { nil } }
}
