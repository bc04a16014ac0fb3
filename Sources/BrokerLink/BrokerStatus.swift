/// The state of the link and what it counted, for health and metrics.
package struct BrokerStatus: Sendable, Equatable {
  package var isConnected = false
  /// The number of messages that the broker acknowledged.
  package var published = 0
  /// How often events were gone before they could be published.
  package var gaps = 0
  /// The number of events that wait for the broker.
  package var waiting = 0
  /// The number of connections after the first one.
  package var reconnects = 0
  /// What went wrong last, without a full stop; `nil` where nothing did.
  package var lastError: String?
}

/// What the link reports: each error once, until another one comes or the link is connected.
package enum BrokerEvent: Sendable, Equatable {
  case connected
  /// An attempt failed; others follow. The sentence says why and what to do.
  case failed(String)
  /// The connection ended; attempts follow. The sentence says why.
  case lost(String)
}
