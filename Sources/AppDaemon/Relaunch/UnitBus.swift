import DBusMessages

/// A message bus on which programs are started: by systemd (org.freedesktop.systemd1(5)), or by
/// their names on the bus.
package struct UnitBus: Sendable {
  private let address: BusAddress
  private let timeout: Int64

  /// The timeout of a call is in nanoseconds.
  init(_ address: BusAddress, timeout: Int64 = 10_000_000_000) {
    self.address = address
    self.timeout = timeout
  }

  package static let system = UnitBus(.system)

  private static let systemd = "org.freedesktop.systemd1"

  /// Starts a unit, unless it is active. The unit is not awaited. Fails while the unit stops.
  func startUnit(_ name: String) throws(BusError) {
    try manage("StartUnit", [.string(name), .string("fail")])
  }

  /// Starts a program in a unit of its own, which is removed when the program ends.
  func startProgram(
    _ path: String, _ arguments: [String], in folder: String, as unit: String,
    environment: [String]
  ) throws(BusError) {
    // systemd replaces variables in the arguments, of which "$$" is a "$".
    let words = ([path] + arguments).map { $0.replacing("$", with: "$$") }
    let command = BusValue.structure([
      .string(path), .array(element: "s", words.map { .string($0) }),
      .boolean(false),
    ])
    let properties: [(String, BusValue)] = [
      ("ExecStart", .array(element: "(sasb)", [command])),
      ("WorkingDirectory", .string(folder)),
      ("Environment", .array(element: "s", environment.map { .string($0) })),
      ("CollectMode", .string("inactive-or-failed")),
    ]
    try manage(
      "StartTransientUnit",
      [
        .string(unit), .string("fail"),
        .array(
          element: "(sv)",
          properties.map { .structure([.string($0.0), .variant($0.1)]) }),
        .array(element: "(sa(sv))", []),
      ])
  }

  /// Starts the program that the bus has for a name, unless the name is taken.
  func startService(_ name: String) throws(BusError) {
    try call(.toBus("StartServiceByName", .string(name), .uint32(0)))
  }

  private func manage(_ member: String, _ body: [BusValue]) throws(BusError) {
    try call(
      BusMessage(
        call: member, of: "\(Self.systemd).Manager", at: "/org/freedesktop/systemd1",
        to: Self.systemd, body: body))
  }

  private func call(_ message: BusMessage) throws(BusError) {
    let bus = try BusConnection(address, timeout: timeout)
    defer { bus.close() }
    _ = try bus.call(message, timeout: timeout)
  }
}
