package struct BusMessage: Hashable, Sendable {
  package enum Kind: Int32, Sendable {
    case call = 1
    case reply, error, signal
  }

  package var kind: Kind
  /// The sender's unique name, which the bus sets; `nil` in a message that was not received.
  package var sender: String?
  package var destination: String?
  package var path: String?
  package var interface: String?
  package var member: String?
  package var errorName: String?
  /// The message's number on the sender's connection; 0 if it was not sent.
  package var serial: UInt32 = 0
  /// The number of the call that this message answers; 0 if it is not an answer.
  package var replySerial: UInt32 = 0
  package var expectsReply = false
  /// Whether the bus may start the service that a call is for.
  package var startsService = true
  package var body: [BusValue]

  package init(_ kind: Kind, body: [BusValue] = []) {
    self.kind = kind
    self.body = body
  }

  package init(
    call member: String, of interface: String?, at path: String, to destination: String?,
    startsService: Bool = true, body: [BusValue] = []
  ) {
    self.init(.call, body: body)
    self.member = member
    self.interface = interface
    self.path = path
    self.destination = destination
    self.startsService = startsService
    expectsReply = true
  }

  /// Returns the call that every service answers.
  package static func ping(_ service: String, startsService: Bool) -> BusMessage {
    BusMessage(
      call: "Ping", of: "org.freedesktop.DBus.Peer", at: "/", to: service,
      startsService: startsService)
  }

  /// Reads a message from bytes. The limit is the approximate memory for its values, in bytes.
  package init(parsing bytes: [UInt8], limit: Int = BusLimits().decodedBytes) throws(BusError) {
    var budget = limit
    self = try WireMessage.parse(bytes).decoded(&budget)
  }

  /// Returns the message's bytes. Its ``serial`` must not be 0.
  package func encoded() throws(BusError) -> [UInt8] {
    try WireMessage.make(self).bytes(serial: serial)
  }

  package var error: BusError? {
    guard kind == .error else { return nil }
    return BusError(name: errorName ?? "", message: body.first?.asString ?? "")
  }

  package func isSignal(_ member: String, of interface: String) -> Bool {
    kind == .signal && self.member == member && self.interface == interface
  }
}
