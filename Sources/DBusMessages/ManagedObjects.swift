/// A mirror of the objects that a service manages, in bounded memory.
///
/// First request the signals of ``matches(service:)``, then send ``request(to:at:)``, and pass the
/// reply and every signal to this value in the order in which they came. Signals that came before
/// the reply may be passed after it: they report past states, and the objects end up the same.
package struct ManagedObjects: Sendable {
  /// Properties by name, without their variants.
  package typealias Properties = [String: BusValue]

  package enum Change: Hashable, Sendable {
    case added(path: String, interface: String)
    /// The properties with new values, and the names of those without a value.
    case changed(path: String, interface: String, Properties, invalidated: [String])
    case removed(path: String, interface: String)
  }

  /// The properties by object path and interface.
  package private(set) var objects: [String: [String: Properties]] = [:]
  /// The number of interfaces and values that were not stored for lack of room.
  package private(set) var dropped = 0
  /// The service's unique name, whose signals alone are applied; `nil` accepts every sender.
  package var owner: String?

  private let maximumBytes: Int
  private var bytes = 0

  /// Creates an empty mirror that takes about this memory at most.
  package init(owner: String? = nil, maximumBytes: Int = 64 << 20) {
    self.owner = owner
    self.maximumBytes = maximumBytes
  }

  /// Returns the rules for the signals that ``apply(_:)`` needs.
  package static func matches(service: String) -> [BusMatch] {
    [
      BusMatch(sender: service, interface: Bus.objectManager),
      BusMatch(sender: service, interface: Bus.properties, member: "PropertiesChanged"),
    ]
  }

  /// Returns the call whose reply ``reset(_:)`` needs.
  package static func request(to service: String, at path: String = "/") -> BusMessage {
    BusMessage(call: "GetManagedObjects", of: Bus.objectManager, at: path, to: service)
  }

  /// Replaces all objects by those in a reply to ``request(to:at:)``.
  package mutating func reset(_ reply: [BusValue]) -> [Change] {
    let old = objects
    objects = [:]
    bytes = 0
    for entry in reply.first?.asEntries ?? [] {
      guard let path = entry.key.asString else { continue }
      _ = add(entry.value, at: path)
    }
    var changes: [Change] = []
    for (path, interfaces) in old {
      for name in interfaces.keys where objects[path]?[name] == nil {
        changes.append(.removed(path: path, interface: name))
      }
    }
    for (path, interfaces) in objects {
      for (name, properties) in interfaces {
        guard let before = old[path]?[name] else {
          changes.append(.added(path: path, interface: name))
          continue
        }
        let changed = properties.filter { before[$0.key] != $0.value }
        let gone = before.keys.filter { properties[$0] == nil }.sorted()
        guard !changed.isEmpty || !gone.isEmpty else { continue }
        changes.append(.changed(path: path, interface: name, changed, invalidated: gone))
      }
    }
    return changes
  }

  package mutating func removeAll() -> [Change] { reset([]) }

  /// Applies a signal; ignores any other message.
  package mutating func apply(_ message: BusMessage) -> [Change] {
    guard message.kind == .signal, owner == nil || message.sender == owner else { return [] }
    let body = message.body
    switch (message.interface, message.member) {
    case (Bus.objectManager, "InterfacesAdded"):
      guard body.count == 2, let path = body[0].asString else { return [] }
      return add(body[1], at: path)
    case (Bus.objectManager, "InterfacesRemoved"):
      guard body.count == 2, let path = body[0].asString else { return [] }
      return (body[1].asArray ?? []).compactMap { name in
        guard let name = name.asString, remove(name, at: path) else { return nil }
        return .removed(path: path, interface: name)
      }
    case (Bus.properties, "PropertiesChanged"):
      guard body.count == 3, let path = message.path, let name = body[0].asString,
        let values = body[1].asProperties, objects[path]?[name] != nil
      else { return [] }
      let changed = values.filter { set($0.key, to: $0.value, of: name, at: path) }
      let gone = (body[2].asArray ?? []).compactMap(\.asString)
        .filter { set($0, to: nil, of: name, at: path) }
      guard !changed.isEmpty || !gone.isEmpty else { return [] }
      return [.changed(path: path, interface: name, changed, invalidated: gone)]
    default: return []
    }
  }

  private mutating func add(_ interfaces: BusValue, at path: String) -> [Change] {
    (interfaces.asEntries ?? []).compactMap { entry in
      guard let name = entry.key.asString, let properties = entry.value.asProperties else {
        return nil
      }
      let wasThere = remove(name, at: path)
      let size = properties.reduce(Self.size(of: name, at: path)) {
        $0 + Self.size(of: $1.key, $1.value)
      }
      guard size <= maximumBytes - bytes else {
        dropped += 1
        return wasThere ? .removed(path: path, interface: name) : nil
      }
      bytes += size
      objects[path, default: [:]][name] = properties
      return .added(path: path, interface: name)
    }
  }

  private mutating func remove(_ name: String, at path: String) -> Bool {
    guard let properties = objects[path]?[name] else { return false }
    bytes -= properties.reduce(Self.size(of: name, at: path)) {
      $0 + Self.size(of: $1.key, $1.value)
    }
    objects[path]?[name] = nil
    if objects[path]?.isEmpty == true { objects[path] = nil }
    return true
  }

  /// Sets or removes a property of a stored interface; returns whether that changed it.
  private mutating func set(
    _ property: String, to value: BusValue?, of name: String, at path: String
  ) -> Bool {
    let old = objects[path]?[name]?[property]
    guard old != value else { return false }
    let growth =
      (value.map { Self.size(of: property, $0) } ?? 0)
      - (old.map { Self.size(of: property, $0) } ?? 0)
    if growth > maximumBytes - bytes {
      dropped += 1
      return false
    }
    bytes += growth
    objects[path]?[name]?[property] = value
    return true
  }

  /// Returns the approximate memory of an interface without properties: names and table entries.
  private static func size(of name: String, at path: String) -> Int {
    512 + name.utf8.count + path.utf8.count
  }

  private static func size(of property: String, _ value: BusValue) -> Int {
    64 + property.utf8.count + value.size
  }
}
