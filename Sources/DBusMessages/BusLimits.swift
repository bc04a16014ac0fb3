/// What a connection may cost, whatever others send.
package struct BusLimits: Hashable, Sendable {
  /// The longest message that is received, in bytes: libdbus may take twice that for it. The connection ends when a longer
  /// one begins to come, before it is stored.
  package var messageBytes = 16 << 20
  /// About the memory that the values of one message may take, and those of all messages that are kept for
  /// ``BusConnection/receive(waitingAtMost:orUntil:)``, in bytes. A single message that takes more is dropped.
  package var decodedBytes = 64 << 20
  /// The number of messages that are kept, and that one ``BusConnection/receive(waitingAtMost:orUntil:)`` returns.
  package var messages = 4096
  /// The bytes that may wait to be sent while the bus does not read.
  package var unsentBytes = 1 << 20

  package init() {}
}
