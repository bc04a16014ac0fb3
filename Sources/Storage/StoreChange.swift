extension Store {
  package enum Location: Hashable, Sendable {
    /// An application's file, `ID.sqlite` in the XDG state directory; see ``StatePath``.
    case application(String)
    /// A path. A relative one is resolved when the store is opened.
    case file(String)
  }

  /// The name of a registration. Of spellings that are equal as `String`s, the first one is stored.
  package struct Key: Hashable, Sendable {
    /// The service, such as `beacons`.
    package var service: String
    /// The group of clients; empty for the app's own managers.
    package var group: String
    package var identifier: String

    package init(service: String, group: String = "", identifier: String) {
      self.service = service
      self.group = group
      self.identifier = identifier
    }
  }

  package struct Registration: Hashable, Sendable {
    package var key: Key
    package var definition: [UInt8]
    package var state: [UInt8]?

    package init(key: Key, definition: [UInt8], state: [UInt8]? = nil) {
      self.key = key
      self.definition = definition
      self.state = state
    }
  }

  package struct Limits: Hashable, Sendable {
    /// The maximum age of entries and presence, in seconds.
    package var maximumAge: Int64
    /// The maximum size of the database file, in bytes; at least 128 KiB.
    package var maximumBytes: Int64
    /// The maximum number of beacons with presence per hour. As many protected ones are added.
    package var maximumBeaconsPerHour: Int

    package init(
      maximumAge: Int64 = 90 * 86400, maximumBytes: Int64 = 64 << 20,
      maximumBeaconsPerHour: Int = 1000
    ) {
      self.maximumAge = min(max(0, maximumAge), 1 << 40)
      self.maximumBytes = max(128 << 10, maximumBytes)
      self.maximumBeaconsPerHour = maximumBeaconsPerHour
    }
  }

  package enum Change: Sendable {
    /// Stores a registration in place of one with its key, whose entries stay.
    case register(Registration)
    /// Removes a registration and, without a history, its entries.
    case remove(Key)
    /// Stores the state of a registration; does nothing if there is none.
    case setState(Key, [UInt8])
    case add(StoredEntry)
    /// Stores the authorization; `nil` if it is not determined.
    case setAuthorization(String?)
    /// Records that a reader, or a group's clients, need no entry up to an identifier any more.
    case mark(reader: String, through: Int64)
    /// Adds presence to that of its hour; does nothing without a history.
    case addPresence(StoredPresence)
    case addGap(EntryGap)
    /// Names a database that does not exist yet.
    case setGeneration(String)

    static func settle(group: String, through id: Int64) -> Change {
      .mark(reader: readerName(ofGroup: group), through: id)
    }
  }
}

extension Store.Key {
  fileprivate var bytes: Int { service.utf8.count + group.utf8.count + identifier.utf8.count }
}

extension Store.Change {
  /// The length of the longest bounded part, in bytes.
  var bytes: Int {
    switch self {
    case .register(let registration):
      max(registration.key.bytes, registration.definition.count, registration.state?.count ?? 0)
    case .remove(let key): key.bytes
    case .setState(let key, let state): max(key.bytes, state.count)
    case .add(let entry): entry.bytes
    case .setAuthorization(let value): value?.utf8.count ?? 0
    case .mark(let reader, _): reader.utf8.count
    case .addPresence(let presence): presence.beacon.utf8.count
    case .addGap, .setGeneration: 0
    }
  }

  func maximum(in limits: Store.Limits?) -> Int {
    if case .add = self, limits != nil { return Store.maximumEntry }
    return Store.maximumBytes
  }
}
