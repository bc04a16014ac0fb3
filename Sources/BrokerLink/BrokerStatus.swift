package struct BrokerStatus: Sendable, Equatable {
  package var isConnected = false
  package var published = 0
  /// The number of times that events were dropped unpublished.
  package var gaps = 0
  package var waiting = 0
  package var reconnects = 0
  package var lastError: String?
}

/// A report of the link. An error is reported once, until another one or a connection.
package enum BrokerEvent: Sendable, Equatable {
  case connected
  /// An attempt failed or the connection was lost, and attempts follow. The sentence says why, and
  /// what to do.
  case failed(String)
}
