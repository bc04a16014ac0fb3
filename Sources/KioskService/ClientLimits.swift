/// What the server grants its clients: a figure for each resource that a client could hold.
package struct ClientLimits: Sendable {
  /// The connections that are open at most.
  package var connections = 512
  /// The time for which the server waits for a client: for its next request, for the whole of a request from its first
  /// byte, for the whole of an answer to be taken, and for anything to be taken of an event stream.
  package var patience: Duration = .seconds(30)
  /// The bytes of a request's body.
  package var bodyBytes = RegionRequest.maximumBytes
  /// The bytes of a request that is not complete: of its body, of its fields, and of what frames a body in chunks.
  var requestBytes = 256 << 10
  /// The bytes that are still read and dropped after the last request of a connection, so that its answer arrives.
  var droppedBytes = 1 << 20
  /// The time for which they are.
  var lingering: Duration = .seconds(2)

  package init() {}
}
