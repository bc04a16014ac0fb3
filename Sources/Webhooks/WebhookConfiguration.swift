/// Where events are delivered, and how.
package struct WebhookConfiguration: Sendable {
  package var urls: [WebhookURL]
  /// What signs each request; `nil` for no signature.
  package var secret: WebhookSecret?
  /// The value of the header `User-Agent`.
  package var userAgent = "beaconscan"
  /// The file with the certificates of authorities to trust; `nil` for those of the system.
  package var authorities: String?
  /// The time that a webhook has to answer, in seconds.
  package var answerTime = 10.0
  /// The shortest and the longest time between two attempts, in seconds.
  package var retryDelay: ClosedRange<Double> = 1...60
  /// The longest time that an answer may ask to wait, in seconds.
  package var maximumRetryAfter = 3600.0

  package init(_ urls: [WebhookURL]) { self.urls = urls }
}

/// Why no webhook can be used: one sentence without a full stop.
package struct WebhookError: Error, Hashable, CustomStringConvertible {
  package var description: String
}

/// The state of a webhook and what it counted.
package struct WebhookStatus: Sendable, Equatable {
  /// The webhook's host, and its port where the URL has one.
  package var place: String
  /// The number of events that were accepted.
  package var deliveries = 0
  /// The number of attempts that failed.
  package var failures = 0
  /// The number of events that the webhook refused, and that are given up.
  package var refused = 0
  /// How often events were gone before they could be delivered.
  package var gaps = 0
  /// The number of events that wait.
  package var waiting = 0
  /// What went wrong last, without a full stop; `nil` where the last attempt did not fail.
  package var lastError: String?
}

/// What is reported of a webhook, by its place in the configuration: each failure once, until another one comes or an
/// event is delivered.
package enum WebhookReport: Sendable, Equatable {
  /// The sentence says why and what to do.
  case failed(Int, String)
  /// An event was delivered after a failure.
  case recovered(Int, String)
  /// Events were gone before they could be delivered.
  case missed(Int, String)
  /// Events were not delivered when the sender stopped.
  case ended(Int, String)
}
