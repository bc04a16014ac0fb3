package import DBusMessages

extension BusMessage {
  /// Creates a signal to one connection, or to all whose rules match.
  package init(
    signal member: String, of interface: String, at path: String, to destination: String? = nil,
    _ body: BusValue...
  ) {
    self.init(.signal, body: body)
    self.member = member
    self.interface = interface
    self.path = path
    self.destination = destination
  }
}

extension BusValue {
  /// Returns an array of strings, `as`.
  package static func strings(_ values: [String]) -> BusValue {
    .array(element: "s", values.map { .string($0) })
  }
}

extension BusConnection {
  /// Makes the bus send the messages that a rule matches.
  package func addMatch(_ rule: BusMatch) throws(BusError) {
    _ = try call(.toBus("AddMatch", .string(rule.text)))
  }

  package func replyError(to call: BusMessage, name: String, message: String) throws(BusError) {
    try reply(to: call, with: [.string(message)], errorName: name)
  }
}
