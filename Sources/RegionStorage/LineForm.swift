import Regions

/// One line of the journal as JSON: the call it belongs to and what it says.
struct LineForm: Codable {
  /// The call's number: one more than that of the call before.
  var call: UInt64
  /// Which line of its call, from 1, and of how many; `nil` for the only one.
  var part: Int?
  var of: Int?
  /// All events up to this serial were delivered when the line was written.
  var delivered: UInt64?

  var put: RegionForm?
  var remove: KeyForm?
  var change: ChangeForm?
  var event: EventForm?
  var issued: UInt64?
  var authorization: AuthorizationForm?

  init(_ record: Record, call: UInt64) {
    self.call = call
    switch record {
    case .put(let region): put = RegionForm(region)
    case .remove(let key): remove = KeyForm(key)
    case .change(let change, let serial): self.change = ChangeForm(change, serial: serial)
    case .event(let event):
      self.event = EventForm(event.transition, serial: event.serial, of: event.key)
    case .issued(let serial): issued = serial
    case .authorization(let value): authorization = AuthorizationForm(value: value)
    }
  }

  /// What the line says; `nil` if it cannot be.
  var record: Record? {
    if let put { return put.region.map { .put($0) } }
    if let remove { return .remove(remove.key) }
    if let change { return change.record }
    if let event { return event.event.map { .event($0) } }
    if let issued { return issued <= Self.mostSerial ? .issued(issued) : nil }
    if let authorization { return .authorization(authorization.value) }
    return nil
  }

  /// A number beyond this was not counted up to, and nothing that adds to one below can overflow.
  static let mostSerial = UInt64(Int64.max)
}

struct AuthorizationForm: Codable {
  var value: String?
}

/// Which region of whom. The manager's own, which most are, name no owner.
struct KeyForm: Codable {
  var owner: String?
  var id: String

  init(_ key: StoredRegion.Key) {
    (owner, id) = (key.owner.isEmpty ? nil : key.owner, key.identifier)
  }

  var key: StoredRegion.Key { StoredRegion.Key(owner: owner ?? "", identifier: id) }
}

extension RegionState {
  /// The state as it is written.
  var name: String {
    switch self {
    case .unknown: "unknown"
    case .inside: "inside"
    case .outside: "outside"
    }
  }

  init?(name: String) {
    guard let state = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = state
  }
}

extension Double {
  /// Itself; `nil` for what JSON has no number for.
  var finite: Double? { isFinite ? self : nil }
}
