/// The limits on a connection's memory, whatever others send.
package struct BusLimits: Hashable, Sendable {
  /// The longest received message, in bytes, for which libdbus may take twice the memory. A longer
  /// message ends the connection before it is stored.
  package var messageBytes = 16 << 20
  /// The approximate memory, in bytes, for the values of one message, and for those of all messages
  /// that a call keeps. A message that takes more is dropped.
  package var decodedBytes = 64 << 20
  /// The number of messages that a call keeps, and that are returned at once.
  package var messages = 4096
  /// The bytes that may be unsent while the bus does not read.
  package var unsentBytes = 1 << 20

  package init() {}
}
