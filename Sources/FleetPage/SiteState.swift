import Advertising
import Clocks
import FleetPicture
import FleetSites
import Fusion
import Scanning

/// What is known of a site: its file, its last picture, its last changes and its alarms.
struct SiteState: Sendable {
  /// The seconds without a report or a picture after which an alarm begins.
  static let patience = 60.0
  /// The most parts of a picture.
  private static let maximumParts = 256
  /// The most alarms of beacons outside their rooms, and of those that fade.
  static let maximumBeaconAlarms = 1000

  let name: String
  var file: SiteFile?
  /// The versions of the configurations that the receivers are to have.
  var wanted: [String: String] = [:]
  /// The receivers that have neither used nor refused it for ten minutes.
  var untaken: Set<String> = []
  var log = ChangeLog()
  /// The second of the last picture.
  private(set) var second: Int64?
  /// The time at which the last picture came, or at which the site was first looked at.
  private var arrival: MonotonicTime?
  /// Whether no picture has come for a minute in which there was a connection to the engine.
  private(set) var isSilent = false
  private(set) var receivers: [SitePicture.Receiver] = []
  private(set) var beacons: [String: SitePicture.Beacon] = [:]
  private(set) var strangers: [String] = []
  private(set) var ignored = 0
  private(set) var fault: String?
  private(set) var alarms: [String: Alarm] = [:]
  /// The parts of a picture that is not complete.
  private var parts: [Int: SitePicture] = [:]
  private var partsSecond: Int64 = 0
  /// The second since which each receiver that never reported is missing.
  private var missingSince: [String: Int64] = [:]

  init(_ name: String, file: SiteFile? = nil) {
    self.name = name
    self.file = file
  }

  /// Takes a picture or a part of one. Returns the alarms that begin and end with it, or `nil` if
  /// the picture is not complete.
  ///
  /// The order of the stream decides which picture is the newest: a clock may have been set back.
  mutating func receive(
    _ picture: SitePicture, at second: Int64, arrival: MonotonicTime
  ) -> [(alarm: Alarm, isActive: Bool)]? {
    guard 1...Self.maximumParts ~= picture.parts, 0..<picture.parts ~= picture.part else {
      return nil
    }
    if second != partsSecond { parts = [:] }
    partsSecond = second
    parts[picture.part] = picture
    guard parts.count >= picture.parts else { return nil }
    let all = (0..<picture.parts).flatMap { parts[$0]?.beacons ?? [] }
      .prefix(SiteFile.maximumBeacons)
    parts = [:]
    beacons = Dictionary(all.map { ($0.beacon, $0) }, uniquingKeysWith: { $1 })
    receivers = Array(picture.receivers.prefix(Site.maximumReceivers))
    strangers = Array(picture.strangers.prefix(100))
    ignored = picture.ignored
    fault = picture.fault
    self.second = second
    self.arrival = arrival
    isSilent = false
    let missing = receivers.filter { $0.isMissing && $0.lastReport == nil }.map(\.name)
    missingSince = Dictionary(
      missing.map { ($0, missingSince[$0] ?? second) }, uniquingKeysWith: { $1 })
    return updateAlarms(second)
  }

  /// Looks whether the site is silent, by the time since which there is a connection to the engine.
  /// Returns the alarms that begin.
  mutating func update(
    at now: MonotonicTime, _ wallSecond: Int64, connected: MonotonicTime
  ) -> [(alarm: Alarm, isActive: Bool)] {
    let since = max(connected, arrival ?? now)
    arrival = arrival ?? now
    guard !isSilent, now.seconds(since: since) > Self.patience else { return [] }
    isSilent = true
    return updateAlarms(wallSecond - Int64(now.seconds(since: since)))
  }

  /// Takes a change. Returns `false` for one that is known already.
  mutating func receive(_ change: RoomChange, _ move: Move) -> Bool {
    guard log.add(move) else { return false }
    if var beacon = beacons[change.beacon], let second, move.second > second {
      beacon.room = change.room
      beacon.isOutside = change.isOutside
      beacon.since = change.time
      beacon.probability = change.probability
      beacons[change.beacon] = beacon
    }
    return true
  }

  /// Returns the alarms that begin and end in a second.
  private mutating func updateAlarms(_ second: Int64) -> [(alarm: Alarm, isActive: Bool)] {
    let former = alarms
    alarms = Dictionary(
      currentAlarms(at: self.second ?? second).map { alarm in
        var alarm = alarm
        alarm.since = former[alarm.id]?.since ?? alarm.since
        return (alarm.id, alarm)
      }, uniquingKeysWith: { first, _ in first })
    let ended = former.values.filter { alarms[$0.id] == nil }.map { (alarm: $0, isActive: false) }
    let begun = alarms.values.filter { former[$0.id] == nil }.map { (alarm: $0, isActive: true) }
    return (ended + begun).sorted { $0.alarm.id < $1.alarm.id }
  }

  private func currentAlarms(at second: Int64) -> [Alarm] {
    guard !isSilent else {
      let since = Seconds.text(second)
      return [
        Alarm(
          .siteSilent, name, of: name, since: since,
          "Nothing is published of the site since \(since): no worker has it, or none of its "
            + "receivers reports.")
      ]
    }
    var alarms = receivers.compactMap { alarm(of: $0, at: second) }
    if let fault {
      alarms.append(Alarm(.siteFault, name, of: name, since: Seconds.text(second), fault))
    }
    for receiver in receivers {
      if let refusal = receiver.refusal {
        alarms.append(
          Alarm(
            .reportRefused, receiver.name, of: name, since: Seconds.text(second),
            "Its last report could not be used: \(refusal)"))
      }
      if let alarm = alarm(ofConfiguration: receiver, at: second) { alarms.append(alarm) }
      guard let difference = receiver.clockDifference, abs(difference) > 2 else { continue }
      let amount = "\((abs(difference) * 10).rounded() / 10) s"
      alarms.append(
        Alarm(
          .clockDifference, receiver.name, of: name, since: Seconds.text(second),
          "The clock of the receiver is \(amount) \(difference > 0 ? "ahead of" : "behind") the "
            + "others; synchronize it, for example by NTP."))
    }
    for stranger in strangers {
      alarms.append(
        Alarm(
          .stranger, stranger, of: name, since: Seconds.text(second),
          "This receiver reports for the site, and the site file does not have it; its reports "
            + "are not used."))
    }
    return alarms + beaconAlarms() + fadingAlarms(at: second)
  }

  private func alarm(of receiver: SitePicture.Receiver, at second: Int64) -> Alarm? {
    if receiver.isMissing, receiver.refusal == nil {
      // By the clock of the others.
      let ahead = Int64(max(-1e9, min(1e9, receiver.clockDifference ?? 0)))
      let since =
        receiver.lastReport.flatMap(Seconds.read).map { $0 - ahead }
        ?? missingSince[receiver.name] ?? second
      guard Double(second - since) > Self.patience else { return nil }
      return Alarm(
        .receiverSilent, receiver.name, of: name, since: Seconds.text(since),
        receiver.lastReport == nil
          ? "The receiver has never reported."
          : "The receiver does not report; it may be off, or without a connection.")
    }
    return receiver.receptionLost.map {
      Alarm(.receptionLost, receiver.name, of: name, since: Seconds.text(second), $0)
    }
  }

  private func alarm(
    ofConfiguration receiver: SitePicture.Receiver, at second: Int64
  ) -> Alarm? {
    guard let version = wanted[receiver.name] else { return nil }
    let configuration = receiver.configuration
    if configuration?.refused == version {
      return Alarm(
        .configurationRefused, receiver.name, of: name, since: Seconds.text(second),
        "The receiver does not use the configuration \(version): "
          + "\(configuration?.reason ?? "it states no reason")")
    }
    guard untaken.contains(receiver.name), !receiver.isMissing, configuration?.version != version
    else { return nil }
    return Alarm(
      .configurationNotTaken, receiver.name, of: name, since: Seconds.text(second),
      configuration?.trial == version
        ? "The receiver has tried the configuration \(version) for ten minutes; its log has the "
          + "reason."
        : "The receiver reports, and has not taken the configuration \(version) for ten minutes; "
          + "permit it to read its topic of configurations, at a broker of the site too.")
  }

  private func beaconAlarms() -> [Alarm] {
    guard let file else { return [] }
    var alarms: [Alarm] = []
    for (identity, entry) in file.beacons.sorted(by: { $0.key < $1.key }) {
      guard let rooms = entry.rooms, let beacon = beacons["\(identity)"],
        beacon.isOutside || beacon.room.map({ !rooms.contains($0) }) ?? false
      else { continue }
      guard alarms.count < Self.maximumBeaconAlarms else { break }
      alarms.append(
        Alarm(
          .beaconOutsideRooms, "\(identity)", name: entry.name, of: name, since: beacon.since,
          "\(entry.name ?? "The beacon") is \(beacon.room.map { "in \($0)" } ?? "outside"), and "
            + "may be in \(rooms.sorted().joined(separator: ", ")) only."))
    }
    return alarms
  }

  private func fadingAlarms(at second: Int64) -> [Alarm] {
    let fading = beacons.values.filter { $0.fading != nil }.sorted { $0.beacon < $1.beacon }
    return fading.prefix(Self.maximumBeaconAlarms).map { beacon in
      let name = BeaconConstraint(beacon.beacon)?.identity.flatMap { file?.beacons[$0]?.name }
      let loss = Int(max(0, min(99, beacon.fading ?? 0)).rounded())
      return Alarm(
        .signalFading, beacon.beacon, name: name, of: self.name, since: Seconds.text(second),
        "\(name ?? "The beacon") is received \(loss) dB weaker than before in the same places; its "
          + "battery may be low.")
    }
  }

  /// The number of beacons in each room.
  var counts: [String: Int] {
    var counts: [String: Int] = [:]
    for case let room? in beacons.values.map(\.room) { counts[room, default: 0] += 1 }
    return counts
  }
}
