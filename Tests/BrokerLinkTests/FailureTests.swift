import Foundation
import TestDaemons
import TestSupport
import Testing

@testable import BrokerLink

@Suite(.blocking) struct FailureTests {
  /// Tries a configuration, and returns its first error.
  private func error(_ configuration: BrokerConfiguration) throws -> String? {
    var configuration = configuration
    configuration.reconnectDelay = 0.02...0.1
    let link = try Broker(configuration, TestJournal().journal)
    link.start()
    #expect(eventually { link.status.lastError != nil })
    defer { link.stop() }
    return link.status.lastError
  }

  @Test func `a port without a broker`() throws {
    var configuration = BrokerConfiguration(host: "127.0.0.1", node: "kiosk")
    configuration.port = try freePort()
    let text = try error(configuration)
    #expect(
      text
        == "the MQTT broker at 127.0.0.1:\(configuration.usedPort) cannot be reached (Connection "
        + "refused); check the host, the port and that a broker runs there")
  }

  @Test func `a name that is none`() throws {
    let text = try error(BrokerConfiguration(host: "broker.invalid", node: "kiosk"))
    #expect(
      text?.hasPrefix("the MQTT broker's host name 'broker.invalid' cannot be resolved (") == true,
      "\(text ?? "")")
  }

  @Test(arguments: [
    ("host", "--mqtt: '' is not a host's name; give one such as mqtt.local"),
    ("port", "the MQTT broker's port is 0; give one from 1 to 65535, such as 1883"),
    ("prefix", "--mqtt-prefix: 'a/+/b' cannot be used"),
    ("discovery", "--mqtt-discovery: '/x' cannot be used"),
    ("node", "--mqtt-node: 'a b' cannot be used"),
    ("keepAlive", "the MQTT keep-alive is 4 s; give a time from 5 s to 65535 s"),
    ("password", "--mqtt-password-file needs a user name; give --mqtt-username NAME too"),
    ("key", "--mqtt-certificate needs the key; give --mqtt-key FILE too"),
    (
      "authorities",
      "/nowhere/ca.pem: the file of authorities for MQTT cannot be read (No such file"
    ),
  ])
  func `a configuration that cannot be used`(what: String, sentence: String) {
    var configuration = BrokerConfiguration(host: "mqtt.local", node: "kiosk")
    var tls = BrokerConfiguration.TLS()
    switch what {
    case "host": configuration.host = ""
    case "port": configuration.port = 0
    case "prefix": configuration.topicPrefix = "a/+/b"
    case "discovery": configuration.discoveryPrefix = "/x"
    case "node": configuration.node = "a b"
    case "keepAlive": configuration.keepAlive = 4
    case "password": configuration.password = "x"
    case "key":
      tls.certificate = "/dev/null"
      configuration.tls = tls
    default:
      tls.authorities = "/nowhere/ca.pem"
      configuration.tls = tls
    }
    let error = #expect(throws: BrokerError.self) {
      _ = try Broker(configuration, TestJournal().journal)
    }
    #expect(error?.description.hasPrefix(sentence) == true, "\(error?.description ?? "")")
  }

  @Test func `this host has a node`() {
    #expect(throws: Never.self) { try BrokerConfiguration(host: "localhost").check() }
  }
}

@Suite(.blocking, .mosquitto) struct TLSTests {
  /// Makes an authority, and a certificate of it for `localhost` and another for a client.
  private func makeCertificates(in scratch: Scratch) throws {
    func openssl(_ arguments: String...) throws { try runTool(["/usr/bin/openssl"] + arguments) }
    for name in ["ca", "other"] {
      try openssl(
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
        "2", "-subj", "/CN=\(name)", "-keyout", scratch["\(name).key"], "-out",
        scratch["\(name).pem"])
    }
    for (name, alternative) in [("server", "DNS:localhost"), ("client", "DNS:kiosk")] {
      try scratch.write(Array("subjectAltName=\(alternative)\n".utf8), "extensions")
      try openssl(
        "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
        "/CN=\(name)", "-keyout", scratch["\(name).key"], "-out", scratch["\(name).csr"])
      try openssl(
        "x509", "-req", "-in", scratch["\(name).csr"], "-CA", scratch["ca.pem"], "-CAkey",
        scratch["ca.key"], "-CAcreateserial", "-days", "2", "-extfile", scratch["extensions"],
        "-out", scratch["\(name).pem"])
    }
  }

  private func access(_ scratch: Scratch, requiresClient: Bool = false) -> String {
    """
    allow_anonymous true
    cafile \(scratch["ca.pem"])
    certfile \(scratch["server.pem"])
    keyfile \(scratch["server.key"])
    require_certificate \(requiresClient)
    """
  }

  private func result(
    _ host: String, _ port: UInt16, _ tls: BrokerConfiguration.TLS?
  ) throws -> String {
    var configuration = BrokerConfiguration(host: host, node: "kiosk")
    (configuration.port, configuration.tls) = (port, tls)
    configuration.reconnectDelay = 0.02...0.1
    let link = try Broker(configuration, TestJournal().journal)
    link.update { $0.setRegions([BrokerRegion("lobby")]) }
    link.start()
    defer { link.stop() }
    #expect(eventually { link.status.published >= 4 || link.status.lastError != nil })
    return link.status.lastError ?? "connected"
  }

  private func expect(
    _ host: String, _ port: UInt16, _ tls: BrokerConfiguration.TLS?, _ part: String,
    at location: SourceLocation = #_sourceLocation
  ) throws {
    let text = try result(host, port, tls)
    #expect(text.contains(part), sourceLocation: location)
  }

  @Test func `certificates are checked, and their names`() throws {
    let scratch = try Scratch()
    try makeCertificates(in: scratch)
    let broker = try MosquittoBroker(access(scratch), in: scratch)
    var tls = BrokerConfiguration.TLS()
    tls.authorities = scratch["ca.pem"]
    try expect("localhost", broker.port, tls, "connected")
    // The certificate is not for this name.
    let name = try result("127.0.0.1", broker.port, tls)
    #expect(name.hasPrefix("TLS with the MQTT broker at 127.0.0.1:\(broker.port) failed ("))
    tls.authorities = scratch["other.pem"]
    let authority = try result("localhost", broker.port, tls)
    #expect(authority.contains("failed (certificate verify failed); check the certificates"))
    // Those of the system do not have the test's.
    tls.authorities = nil
    try expect("localhost", broker.port, tls, "certificate verify failed")
    let none = try result("localhost", broker.port, nil)
    #expect(none.contains("ended the connection before it was accepted"), "\(none)")
    tls.authorities = scratch["ca.key"]
    let file = try result("localhost", broker.port, tls)
    #expect(file.hasPrefix("TLS with"), "\(file)")
  }

  @Test func `a client proves who it is`() throws {
    let scratch = try Scratch()
    try makeCertificates(in: scratch)
    let broker = try MosquittoBroker(access(scratch, requiresClient: true), in: scratch)
    var tls = BrokerConfiguration.TLS()
    tls.authorities = scratch["ca.pem"]
    let without = try result("localhost", broker.port, tls)
    #expect(without != "connected")
    print("without a certificate:", without)
    (tls.certificate, tls.key) = (scratch["client.pem"], scratch["client.key"])
    try expect("localhost", broker.port, tls, "connected")
  }

  @Test func `a broker without TLS`() throws {
    let scratch = try Scratch()
    let broker = try MosquittoBroker(in: scratch)
    let text = try result("localhost", broker.port, BrokerConfiguration.TLS())
    #expect(text != "connected")
    print("TLS to a broker without:", text)
  }
}
