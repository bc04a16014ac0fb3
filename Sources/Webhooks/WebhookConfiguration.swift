package struct WebhookConfiguration: Sendable {
  package var urls: [WebhookURL]
  /// The secret that signs each request, or `nil` for no signature.
  package var secret: WebhookSecret?
  package var userAgent = "beaconscan"
  package var authorities: String?
  /// The time that a webhook has to answer, in seconds.
  package var answerTime = 10.0
  /// The shortest and longest pause between two attempts, in seconds.
  package var retryDelay: ClosedRange<Double> = 1...60
  /// The longest `Retry-After` that is followed, in seconds.
  package var maximumRetryAfter = 3600.0

  package init(_ urls: [WebhookURL]) { self.urls = urls }
}

/// The reason that webhooks cannot be used: one sentence without a full stop.
package struct WebhookError: Error, Hashable, CustomStringConvertible {
  package var description: String
}

package struct WebhookStatus: Sendable, Equatable {
  /// The URL's host, and its port if it has one.
  package var place: String
  package var deliveries = 0
  package var failures = 0
  /// The number of events that the webhook rejected and that are not sent again.
  package var refused = 0
  package var gaps = 0
  package var waiting = 0
  package var lastError: String?
}

/// A report about the webhook at an index. A failure is not repeated until another or a delivery.
package enum WebhookReport: Sendable, Equatable {
  case failed(Int, String)
  case recovered(Int, String)
  case missed(Int, String)
  case ended(Int, String)
}
