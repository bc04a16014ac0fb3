import CMosquitto

extension BrokerConfiguration {
  private var kind: String {
    switch option {
    case "mqtt": "the MQTT broker"
    case "home-assistant": "Home Assistant's MQTT broker"
    default: "the fleet's MQTT broker"
    }
  }
  private var broker: String { "\(kind) at \(address)" }

  func sentence(for failure: MQTTClient.Failure, log: String?) -> String {
    switch mosq_err_t(rawValue: failure.status) {
    case MOSQ_ERR_EAI, MOSQ_ERR_LOOKUP:
      "\(kind)'s host name '\(host)' cannot be resolved (\(failure.text)); check the name and "
        + "this machine's network"
    case MOSQ_ERR_TLS, MOSQ_ERR_TLS_HANDSHAKE:
      sentence(forTLS: log ?? failure.text)
    case MOSQ_ERR_CONN_LOST, MOSQ_ERR_PROTOCOL, MOSQ_ERR_MALFORMED_PACKET:
      "\(broker) ended the connection before it was accepted; check that the port is one of MQTT"
        + (tls == nil ? " without TLS" : " with TLS, and that the broker accepts the certificate")
    case MOSQ_ERR_ERRNO:
      "\(broker) cannot be reached (\(failure.text)); check the host, the port and that a broker runs "
        + "there"
    default:
      "\(broker) cannot be used (\(failure.text)); check the options of MQTT"
    }
  }

  private func sentence(forTLS log: String) -> String {
    // For example: OpenSSL Error[0]: error:0A000086:SSL routines::certificate verify failed
    let reason = log.split(separator: ":").last.map(String.init) ?? log
    let text = reason.drop { $0 == " " }
    let name = String(text.last == "." ? text.dropLast() : text)
    return
      "TLS with \(broker) failed (\(name)); check the certificates on both sides, the name in the "
      + "broker's, and that the port expects TLS"
  }

  var sentenceForNoAnswer: String {
    "\(broker) does not answer; check that the port is one of MQTT, and whether it expects TLS"
  }

  func sentence(forAnswer answer: Int32) -> String {
    switch answer {
    case 1: "\(broker) does not accept MQTT 3.1.1; use one that does"
    case 2:
      "\(broker) does not accept the client identifier '\(clientID)'; give another one"
    case 3: "\(broker) is not available now; it will be tried again"
    case 4, 5:
      username == nil
        ? "\(broker) does not accept clients without a user name; give one, and its password"
        : "\(broker) refuses the user '\(username ?? "")'; check the user name and the password"
    default: "\(broker) refuses the connection with code \(answer); see the broker's log"
    }
  }

  func sentence(forLoss failure: MQTTClient.Failure, log: String?) -> String {
    switch mosq_err_t(rawValue: failure.status) {
    case MOSQ_ERR_KEEPALIVE:
      "\(broker) does not answer any more; it will be tried again"
    case MOSQ_ERR_TLS, MOSQ_ERR_TLS_HANDSHAKE: sentence(forTLS: log ?? failure.text)
    case MOSQ_ERR_ERRNO, MOSQ_ERR_UNKNOWN:
      "the connection to \(broker) failed (\(failure.text)); it will be tried again"
    default:
      "\(broker) ended the connection; it will be tried again; if that happens again and again, "
        + "another client may use the identifier '\(clientID)'"
    }
  }
}
