/// A mirror of the objects that a service manages, in bounded memory.
///
/// First request the signals of ``matches(service:)``, then send ``request(to:)``, and pass the
/// reply and every signal to this value in the order in which they came.
package struct ManagedObjects: Sendable {
  /// Properties by name, without their variants.
  package typealias Properties = [String: BusValue]

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

  package static func matches(service: String) -> [BusMatch] {
    [
      BusMatch(sender: service, interface: Bus.objectManager),
      BusMatch(sender: service, interface: Bus.properties, member: "PropertiesChanged"),
    ]
  }

  /// Returns the call whose reply ``reset(_:)`` needs. It does not start the service.
  package static func request(to service: String) -> BusMessage {
    BusMessage(
      call: "GetManagedObjects", of: Bus.objectManager, at: "/", to: service, startsService: false)
  }

  package mutating func reset(_ reply: [BusValue]) {
    objects = [:]
    bytes = 0
    for entry in reply.first?.asEntries ?? [] {
      guard let path = entry.key.asString else { continue }
      _ = add(entry.value, at: path)
    }
  }

  /// Applies a signal; returns the names of the interfaces that it changed.
  package mutating func apply(_ message: BusMessage) -> [String] {
    guard message.kind == .signal, owner == nil || message.sender == owner else { return [] }
    let body = message.body
    switch (message.interface, message.member) {
    case (Bus.objectManager, "InterfacesAdded"):
      guard body.count == 2, let path = body[0].asString else { return [] }
      return add(body[1], at: path)
    case (Bus.objectManager, "InterfacesRemoved"):
      guard body.count == 2, let path = body[0].asString else { return [] }
      return (body[1].asArray ?? []).compactMap(\.asString).filter { remove($0, at: path) }
    case (Bus.properties, "PropertiesChanged"):
      guard body.count == 3, let path = message.path, let name = body[0].asString,
        let values = body[1].asProperties, objects[path]?[name] != nil
      else { return [] }
      let changed = values.filter { set($0.key, to: $0.value, of: name, at: path) }
      let gone = (body[2].asArray ?? []).compactMap(\.asString)
        .filter { set($0, to: nil, of: name, at: path) }
      return changed.isEmpty && gone.isEmpty ? [] : [name]
    default: return []
    }
  }

  private mutating func add(_ interfaces: BusValue, at path: String) -> [String] {
    (interfaces.asEntries ?? []).compactMap { entry in
      guard let name = entry.key.asString, let properties = entry.value.asProperties else {
        return nil
      }
      let wasThere = remove(name, at: path)
      let size = Self.size(of: name, properties, at: path)
      guard size <= maximumBytes - bytes else {
        dropped += 1
        return wasThere ? name : nil
      }
      bytes += size
      objects[path, default: [:]][name] = properties
      return name
    }
  }

  private mutating func remove(_ name: String, at path: String) -> Bool {
    guard let properties = objects[path]?[name] else { return false }
    bytes -= Self.size(of: name, properties, at: path)
    objects[path]?[name] = nil
    if objects[path]?.isEmpty == true { objects[path] = nil }
    return true
  }

  private mutating func set(
    _ property: String, to value: BusValue?, of name: String, at path: String
  ) -> Bool {
    let old = objects[path]?[name]?[property]
    guard old != value else { return false }
    let growth = Self.size(of: property, value) - Self.size(of: property, old)
    if growth > maximumBytes - bytes {
      dropped += 1
      return false
    }
    bytes += growth
    objects[path]?[name]?[property] = value
    return true
  }

  private static func size(of name: String, _ properties: Properties, at path: String) -> Int {
    properties.reduce(512 + name.utf8.count + path.utf8.count) { $0 + size(of: $1.key, $1.value) }
  }

  private static func size(of property: String, _ value: BusValue?) -> Int {
    value.map { 64 + property.utf8.count + $0.size } ?? 0
  }
}
