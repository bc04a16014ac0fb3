import CCurl
import Glibc

// Error sentences without a full stop. They contain no path of a URL, since paths may be secret.

extension WebhookAnswer {
  var outcome: DeliverySchedule.Outcome {
    switch status {
    case .some(200..<300): .delivered
    // The event is fine, but the time was not: RFC 9110 section 15.5.9, RFC 8470, RFC 6585.
    case 408, 425, 429: .failed(retryAfter: retryAfter)
    case .some(400..<500): .refused
    default: .failed(retryAfter: retryAfter)
    }
  }

  func sentence(at place: String, answerTime: Double) -> String {
    let webhook = "the webhook at \(place)"
    if let status {
      switch status {
      case 408, 425, 429:
        return "\(webhook) answers with status \(status); it will be tried again, more slowly"
      case 300..<400:
        return
          "\(webhook) redirects with status \(status), which is not followed; give the URL that "
          + "it redirects to"
      case 401, 403:
        return
          "\(webhook) refuses an event with status \(status), and the event is given up; check "
          + "the URL and the secret"
      case 400..<500:
        return
          "\(webhook) refuses an event with status \(status), and the event is given up; check "
          + "the URL, and the server's log"
      default:
        return
          "\(webhook) answers with status \(status); it will be tried again; see the server's log"
      }
    }
    switch result {
    case CURLE_COULDNT_RESOLVE_HOST:
      return "the host name of \(webhook) cannot be resolved; check the name and this machine's "
        + "network"
    case CURLE_COULDNT_CONNECT:
      // The text is copied at once.
      let reason = unsafe systemError == 0 ? text : String(cString: strerror(systemError))
      return "\(webhook) cannot be reached (\(reason)); check the URL, and that a server runs there"
    case CURLE_OPERATION_TIMEDOUT:
      return
        "\(webhook) does not answer within \(Int(answerTime.rounded(.up))) s; check the server, "
        + "which should answer before it does its work"
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE,
      CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER:
      return
        "TLS with \(webhook) failed (\(reason)); check the server's certificate, its name, and "
        + "that the port expects TLS"
    default:
      return "\(webhook) cannot be used (\(text)); check the URL, and that the server speaks HTTP"
    }
  }

  /// libcurl's message about the request: one line of ASCII, of at most 200 characters.
  private var reason: String {
    let line = detail.unicodeScalars.prefix { (0x20...0x7E).contains($0.value) }.prefix(200)
    return line.isEmpty ? text : String(String.UnicodeScalarView(line))
  }
}
