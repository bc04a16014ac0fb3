/// The server's limits on the resources of clients.
package struct ClientLimits: Sendable {
  package var connections = 512
  /// The longest time for a client to start a request, to complete a request, to take an answer,
  /// and to take anything from an event stream.
  package var patience: Duration = .seconds(30)
  package var bodyBytes = 16 << 10
  /// The most bytes in an incomplete request, including its fields and the framing of chunks.
  var requestBytes = 256 << 10
  /// The most bytes to drop after the last request of a connection, so that its answer arrives.
  var droppedBytes = 1 << 20
  var lingering: Duration = .seconds(2)

  package init() {}
}
