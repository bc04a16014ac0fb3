import Advertising
import Regions
import Scanning

/// A change of state as JSON, with what is to be told of it.
struct ChangeForm: Codable {
  var owner: String?
  var id: String
  var state: String
  var time: Int64
  var limit: Double?
  var event: EventForm?

  init(_ change: StoredChange, serial: UInt64?) {
    let key = KeyForm(change.key)
    (owner, id) = (key.owner, key.id)
    (state, time) = (change.state.name, change.time.nanoseconds)
    limit = change.silenceLimit?.finite
    if let transition = change.event, let serial {
      event = EventForm(transition, serial: serial, of: nil)
      // Most often it is the region's own identifier.
      if transition.region == id { event?.region = nil }
    }
  }

  /// The change; `nil` if there can be no such.
  var record: Record? {
    guard let state = RegionState(name: state) else { return nil }
    let key = StoredRegion.Key(owner: owner ?? "", identifier: id)
    var change = StoredChange(
      key, state: state, at: MonotonicTime(nanoseconds: time), silenceLimit: limit)
    guard let event else { return .change(change, serial: nil) }
    guard event.serial <= LineForm.mostSerial, let told = event.transition(of: id) else {
      return nil
    }
    change.event = told
    return .change(change, serial: event.serial)
  }
}

/// An event as JSON: serial, and all that a transition says.
struct EventForm: Codable {
  struct Last: Codable {
    var time: Int64
    var uuid: String
    var major: UInt16
    var minor: UInt16
    /// dBm.
    var rssi: Int8?
  }

  var serial: UInt64
  /// Where it stands alone: whose region.
  var key: KeyForm?
  /// `enter`, `exit` or `determined`.
  var change: String
  /// The state that was determined.
  var state: String?
  var time: Int64
  /// What the transition calls the region, if not by the key's identifier.
  var region: String?
  var previous: String
  var rule: String
  var last: Last?
  var samples: Int
  var limit: Double?
  var interval: Double?
  var loss: Double?

  init(_ transition: RegionTransition, serial: UInt64, of key: StoredRegion.Key?) {
    self.serial = serial
    self.key = key.map { KeyForm($0) }
    switch transition.change {
    case .enter: change = "enter"
    case .exit: change = "exit"
    case .determined(let determined): (change, state) = ("determined", determined.name)
    }
    time = transition.time.nanoseconds
    region = transition.region == key?.identifier ? nil : transition.region
    previous = transition.previous.name
    let reason = transition.reason
    (rule, samples) = (reason.rule.rawValue, reason.samples)
    last = reason.lastSighting.map {
      Last(
        time: $0.time.nanoseconds, uuid: $0.beacon.uuid.description, major: $0.beacon.major,
        minor: $0.beacon.minor, rssi: $0.rssi)
    }
    (limit, interval) = (reason.exitTimeout?.finite, reason.interval?.finite)
    loss = reason.loss?.finite
  }

  /// The event of a line by itself; `nil` if there can be no such.
  var event: StoredEvent? {
    guard let key = key?.key, serial <= LineForm.mostSerial,
      let transition = transition(of: key.identifier)
    else { return nil }
    return StoredEvent(serial: serial, key: key, transition: transition)
  }

  /// The transition; `nil` if there can be no such.
  func transition(of identifier: String) -> RegionTransition? {
    guard let previous = RegionState(name: previous),
      let rule = RegionTransition.Rule(rawValue: rule)
    else { return nil }
    let told: RegionTransition.Change
    switch (change, state.flatMap { RegionState(name: $0) }) {
    case ("enter", nil): told = .enter
    case ("exit", nil): told = .exit
    case ("determined", let determined?): told = .determined(determined)
    default: return nil
    }
    var sighting: RegionTransition.LastSighting?
    if let last {
      guard let uuid = ProximityUUID(last.uuid) else { return nil }
      sighting = RegionTransition.LastSighting(
        of: BeaconIdentity(uuid: uuid, major: last.major, minor: last.minor),
        at: MonotonicTime(nanoseconds: last.time), rssi: last.rssi)
    }
    return RegionTransition(
      told, at: MonotonicTime(nanoseconds: time), region: region ?? identifier, previous: previous,
      reason: RegionTransition.Reason(
        rule, lastSighting: sighting, samples: samples, exitTimeout: limit, interval: interval,
        loss: loss))
  }
}
