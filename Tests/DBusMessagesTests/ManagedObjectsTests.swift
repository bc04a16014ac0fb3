import DBusMessages
import TestDaemons
import Testing

@Suite struct ManagedObjectsTests {
  @Test func followsSignals() {
    var objects = ManagedObjects(owner: ":1.1")
    let known = ["/a": ["i.A": ["x": BusValue.int16(1)]], "/b": ["i.A": [:], "i.B": [:]]]
    objects.reset(Self.reply(known))
    #expect(objects.objects == known)

    #expect(objects.apply(Self.added("/a", ["i.B": ["y": .string("1")]])) == ["i.B"])
    #expect(objects.objects["/a"]?["i.B"] == ["y": .string("1")])
    #expect(
      objects.apply(Self.changed("/a", "i.A", ["x": .int16(2), "z": .byte(1)], ["none"]))
        == ["i.A"])
    #expect(objects.objects["/a"]?["i.A"] == ["x": .int16(2), "z": .byte(1)])
    // What is as it was is no change.
    #expect(objects.apply(Self.changed("/a", "i.A", ["x": .int16(2)], [])) == [])
    #expect(objects.apply(Self.changed("/a", "i.A", [:], ["x"])) == ["i.A"])
    #expect(objects.objects["/a"]?["i.A"] == ["z": .byte(1)])
    #expect(objects.apply(Self.removed("/b", ["i.A", "i.C"])) == ["i.A"])
    #expect(objects.objects["/b"] == ["i.B": [:]])
    #expect(objects.apply(Self.removed("/b", ["i.B"])) == ["i.B"])
    #expect(objects.objects["/b"] == nil)

    // Nothing that is not known, or that is not the service's.
    #expect(objects.apply(Self.changed("/c", "i.A", ["x": .byte(1)], [])) == [])
    #expect(objects.apply(Self.added("/c", ["i.A": [:]], sender: ":1.2")) == [])
    #expect(objects.apply(Self.added("/c", ["i.A": [:]], sender: nil)) == [])
    #expect(objects.objects.keys.sorted() == ["/a"])
  }

  @Test func aNewReplyReplacesAll() {
    var objects = ManagedObjects()
    objects.reset(
      Self.reply(["/a": ["i": ["x": .byte(1), "y": .byte(1)]], "/b": ["i": [:]], "/c": ["i": [:]]]))
    let others = ["/a": ["i": ["x": BusValue.byte(2)]], "/b": ["i": [:]], "/d": ["i": [:]]]
    objects.reset(Self.reply(others))
    #expect(objects.objects == others)
    objects.reset([])
    #expect(objects.objects.isEmpty)
  }

  /// Memory stays within its bound, and what was removed makes room again.
  @Test func isBounded() {
    var objects = ManagedObjects(maximumBytes: 100_000)
    let value: [String: BusValue] = ["x": .bytes([UInt8](repeating: 1, count: 9000))]
    for number in 0..<50 { _ = objects.apply(Self.added("/o\(number)", ["i": value], sender: nil)) }
    #expect(objects.objects.count == 10)
    #expect(objects.dropped == 40)
    let growth: [String: BusValue] = ["y": .bytes([UInt8](repeating: 1, count: 9000))]
    #expect(objects.apply(Self.changed("/o0", "i", growth, [], sender: nil)) == [])
    #expect(objects.dropped == 41)
    #expect(objects.apply(Self.removed("/o1", ["i"], sender: nil)).count == 1)
    #expect(objects.apply(Self.changed("/o0", "i", growth, [], sender: nil)).count == 1)
    // The same object again takes no more room.
    for _ in 0..<50 { _ = objects.apply(Self.added("/o2", ["i": value], sender: nil)) }
    #expect(objects.dropped == 41)
    for number in 0..<50 { _ = objects.apply(Self.removed("/o\(number)", ["i"], sender: nil)) }
    for number in 0..<10 { _ = objects.apply(Self.added("/o\(number)", ["i": value], sender: nil)) }
    #expect(objects.objects.count == 10)
  }

  /// Signals of other shapes than they should have change nothing.
  @Test func otherShapes() {
    var objects = ManagedObjects()
    objects.reset(Self.reply(["/a": ["i": [:]]]))
    let bodies: [[BusValue]] = [
      [], [.byte(1)], [.string("/a"), .byte(1)], [.objectPath("/a"), .strings(["i", "i"])],
      [.byte(1), .byte(2), .byte(3)], [.string("i"), .byte(2), .strings([])],
      [.objectPath("/a"), .properties(["i": .byte(1)])],
    ]
    for body in bodies {
      for member in ["InterfacesAdded", "PropertiesChanged"] {
        for interface in ["ObjectManager", "Properties"] {
          var message = BusMessage(
            signal: member, of: "org.freedesktop.DBus.\(interface)", at: "/a")
          message.body = body
          #expect(objects.apply(message) == [])
        }
      }
    }
    #expect(objects.objects == ["/a": ["i": [:]]])
    objects.reset([.byte(1)])
    #expect(objects.objects.isEmpty)
  }

  typealias Interfaces = [String: [String: BusValue]]

  static func interfaces(_ values: Interfaces) -> BusValue {
    .dictionary(
      key: "s", value: "a{sv}",
      values.map { BusValue.Entry(.string($0.key), .properties($0.value)) })
  }

  static func reply(_ objects: [String: Interfaces]) -> [BusValue] {
    [
      .dictionary(
        key: "o", value: "a{sa{sv}}",
        objects.map { BusValue.Entry(.objectPath($0.key), interfaces($0.value)) })
    ]
  }

  static func added(
    _ path: String, _ values: Interfaces, sender: String? = ":1.1"
  ) -> BusMessage {
    var message = BusMessage(
      signal: "InterfacesAdded", of: "org.freedesktop.DBus.ObjectManager", at: "/", to: nil,
      .objectPath(path), interfaces(values))
    message.sender = sender
    return message
  }

  static func removed(
    _ path: String, _ names: [String], sender: String? = ":1.1"
  ) -> BusMessage {
    var message = BusMessage(
      signal: "InterfacesRemoved", of: "org.freedesktop.DBus.ObjectManager", at: "/", to: nil,
      .objectPath(path), .strings(names))
    message.sender = sender
    return message
  }

  static func changed(
    _ path: String, _ interface: String, _ values: [String: BusValue], _ invalidated: [String],
    sender: String? = ":1.1"
  ) -> BusMessage {
    var message = BusMessage(
      signal: "PropertiesChanged", of: "org.freedesktop.DBus.Properties", at: path, to: nil,
      .string(interface), .properties(values), .strings(invalidated))
    message.sender = sender
    return message
  }
}
