import Foundation
import ServiceCore
import Synchronization
import TestDaemons
import TestSupport
import Testing

@testable import Webhooks

final class LockedReports: Sendable {
  private let reports = Mutex<[WebhookReport]>([])
  func append(_ report: WebhookReport) { reports.withLock { $0.append(report) } }
  var all: [WebhookReport] { reports.withLock { $0 } }
}

private func body(_ number: Int) -> [UInt8] { Array(#"{"type":"enter","n":\#(number)}"#.utf8) }

@Suite(.blocking) struct DeliveryTests {
  private let reports = Reports()

  private func url(_ receiver: Receiver, _ path: String = "/hooks/secret?key=1") -> String {
    "http://127.0.0.1:\(receiver.port)\(path)"
  }

  @Test func `events come in order, once, to every webhook`() throws {
    let receivers = try (0..<2).map { _ in try Receiver(["204"]) }
    let sender = try reports.sender(to: receivers.map { url($0) })
    defer { sender.stop() }
    for number in 1...50 { sender.send(body(number)) }
    #expect(eventually { sender.statuses.allSatisfy { $0.deliveries == 50 } })
    for (receiver, status) in zip(receivers, sender.statuses) {
      let requests = receiver.requests
      #expect(requests.map(\.body) == (1...50).map { String(decoding: body($0), as: UTF8.self) })
      #expect(requests.map(\.id) == sender.ids(Array(1...50)))
      #expect(
        requests.allSatisfy {
          $0.path == "/hooks/secret?key=1" && $0.type == "application/json" && !$0.isSigned
            && $0.agent == "beaconscan/1.2.3"
        })
      #expect(status.place == "127.0.0.1:\(receiver.port)" && status.waiting == 0)
      #expect(status.failures == 0 && status.refused == 0 && status.gaps == 0)
    }
    #expect(reports.all.isEmpty)
  }

  @Test func `another library verifies the signature, of every attempt`() throws {
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    let receiver = try Receiver(["500", "200"], secret: secret)
    let sender = try reports.sender(to: [url(receiver)]) {
      $0.secret = WebhookSecret(Array(secret.utf8))
    }
    defer { sender.stop() }
    // More than libcurl sends without asking first.
    let large = Array(#"{"text":"\#(String(repeating: "é", count: 5000))"}"#.utf8)
    sender.send(large)
    #expect(eventually { sender.statuses[0].deliveries == 1 })
    #expect(receiver.requests.map(\.isRight) == [true, true])
    #expect(receiver.requests.allSatisfy { $0.body == String(decoding: large, as: UTF8.self) })
  }

  @Test(arguments: ["500", "503@0", "408", "425", "429", "302>/elsewhere", "304"])
  func `what may pass is tried again`(answer: String) throws {
    let receiver = try Receiver([answer, answer, "200"])
    let sender = try reports.sender(to: [url(receiver)])
    defer { sender.stop() }
    sender.send(body(1))
    sender.send(body(2))
    #expect(eventually { sender.statuses[0].deliveries == 2 })
    let requests = receiver.requests
    #expect(requests.map(\.id) == sender.ids([1, 1, 1, 2]))
    // A redirect is not followed.
    #expect(requests.allSatisfy { $0.path == "/hooks/secret?key=1" })
    #expect(sender.statuses[0].failures == 2 && sender.statuses[0].refused == 0)
    #expect(eventually { reports.all.count == 2 })
    guard case .failed(0, let sentence) = reports.all.first else {
      Issue.record("\(reports.all)")
      return
    }
    let place = "the webhook at 127.0.0.1:\(receiver.port)"
    #expect(sentence.hasPrefix(place) && !sentence.contains("secret?"), "\(sentence)")
    #expect(reports.all.last == .recovered(0, "\(place) accepts events again"))
  }

  @Test(arguments: ["400", "401", "404", "410", "413"])
  func `what is refused is given up`(answer: String) throws {
    let receiver = try Receiver([answer, answer, "200"])
    let sender = try reports.sender(to: [url(receiver)])
    defer { sender.stop() }
    for number in 1...3 { sender.send(body(number)) }
    #expect(eventually { sender.statuses[0].deliveries == 1 })
    #expect(receiver.requests.map(\.id) == sender.ids([1, 2, 3]))
    let status = sender.statuses[0]
    #expect(status.refused == 2 && status.failures == 0 && status.waiting == 0)
    // Once for both.
    #expect(eventually { reports.all.count == 2 })
    guard case .failed(0, let sentence) = reports.all.first else {
      Issue.record("\(reports.all)")
      return
    }
    #expect(sentence.contains("refuses an event with status \(answer), and the event is given up"))
  }

  @Test func `a server that never answers holds nothing up`() throws {
    let slow = try Receiver(["hang"])
    let quick = try Receiver(["200"])
    let sender = try reports.sender(to: [url(slow), url(quick)])
    for number in 1...5 { sender.send(body(number)) }
    #expect(eventually { sender.statuses[1].deliveries == 5 && slow.requests.count == 1 })
    let clock = ContinuousClock()
    let time = clock.measure { sender.stop() }
    print("stop() with a request that hangs: \(time)")
    // It did not wait for the 600 s of an answer.
    #expect(time < .seconds(300))
    #expect(
      reports.all == [
        .ended(0, "5 events were not delivered to the webhook at 127.0.0.1:\(slow.port)")
      ])
  }

  @Test func `a time without an answer is a failure`() throws {
    let receiver = try Receiver(["hang", "200"])
    let sender = try reports.sender(to: [url(receiver)]) { $0.answerTime = 0.2 }
    defer { sender.stop() }
    sender.send(body(1))
    // Where the machine is busy, the second answer may be too late as well, and comes again.
    #expect(eventually { sender.statuses[0].deliveries == 1 })
    guard case .failed(0, let sentence) = reports.all.first else {
      Issue.record("\(reports.all)")
      return
    }
    #expect(sentence.contains("does not answer within 1 s; check the server"), "\(sentence)")
  }

  @Test func `a port without a server, and more events than the journal has`() throws {
    let port = try freePort()
    let sender = try reports.sender(to: ["http://127.0.0.1:\(port)/x"])
    sender.send(body(1))
    #expect(eventually { sender.statuses[0].failures > 0 })
    // Other kinds push it out of the journal.
    for _ in 0..<Journal.maximumEntries { sender.events.append([], kind: "health") }
    sender.send(body(2))
    #expect(eventually { sender.statuses[0].gaps == 1 })
    let failures = sender.statuses[0].failures
    #expect(eventually { sender.statuses[0].failures > failures + 2 })
    let status = sender.statuses[0]
    #expect(status.waiting == 1 && status.gaps == 1, "\(status)")
    let place = "the webhook at 127.0.0.1:\(port)"
    #expect(
      eventually {
        reports.all.contains(
          .failed(
            0,
            "\(place) cannot be reached (Connection refused); check the URL, and that a server "
              + "runs there"))
      })
    #expect(
      reports.all.contains(
        .missed(0, "\(place) was not reached for so long that events for it are gone")))
    #expect(reports.all.count == 2, "\(reports.all)")
    sender.stop()
  }

  @Test func `after the end nothing is delivered`() throws {
    let receiver = try Receiver(["200"])
    let sender = try reports.sender(to: [url(receiver)])
    sender.send(body(1))
    #expect(eventually { sender.statuses[0].deliveries == 1 })
    sender.stop()
    sender.send(body(2))
    #expect(sender.statuses[0].waiting == 1 && receiver.requests.count == 1)
  }

  @Test func `a name that is none`() throws {
    let sender = try reports.sender(to: ["http://receiver.invalid/x"])
    defer { sender.stop() }
    sender.send(body(1))
    #expect(eventually { sender.statuses[0].lastError != nil })
    #expect(
      sender.statuses[0].lastError
        == "the host name of the webhook at receiver.invalid cannot be resolved; check the name and "
        + "this machine's network")
  }

  @Test(.mosquitto) func `a server that speaks no HTTP`() throws {
    let scratch = try Scratch()
    let server = try MosquittoBroker(in: scratch)
    let sender = try reports.sender(to: ["http://127.0.0.1:\(server.port)/x"])
    defer { sender.stop() }
    sender.send(body(1))
    #expect(eventually { sender.statuses[0].lastError != nil })
    let sentence = sender.statuses[0].lastError ?? ""
    #expect(sentence.contains("check the URL, and that the server speaks HTTP"), "\(sentence)")
  }
}

@Suite(.blocking) struct CertificateTests {
  @Test func `certificates are checked, and their names`() throws {
    let scratch = try Scratch()
    try runTool([
      "/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
      "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
      "subjectAltName=DNS:localhost", "-keyout", scratch["key"], "-out", scratch["ca.pem"],
    ])
    try scratch.write(try scratch.bytes("key") + scratch.bytes("ca.pem"), "both.pem")
    let receiver = try Receiver(["200"], certificate: scratch["both.pem"])
    for (host, knows, reason) in [
      ("localhost", false, "self-signed certificate"), ("127.0.0.1", true, "127.0.0.1"),
      ("localhost", true, nil),
    ] {
      let reports = Reports()
      let sender = try reports.sender(to: ["https://\(host):\(receiver.port)/key"]) {
        if knows { $0.authorities = scratch["ca.pem"] }
      }
      defer { sender.stop() }
      sender.send(body(1))
      #expect(
        eventually { sender.statuses[0].deliveries == 1 || sender.statuses[0].lastError != nil })
      let sentence = sender.statuses[0].lastError
      if let reason {
        let start = "TLS with the webhook at \(host):\(receiver.port) failed ("
        #expect(sentence?.hasPrefix(start) == true, "\(sentence ?? "")")
        #expect(sentence?.contains(reason) == true, "\(sentence ?? "")")
      } else {
        #expect(sentence == nil, "\(sentence ?? "")")
      }
    }
    // HTTP to a port that expects TLS, and TLS to one that does not.
    #expect(receiver.requests.count == 1)
    let plain = try Receiver(["200"])
    let reports = Reports()
    let sender = try reports.sender(to: ["https://localhost:\(plain.port)/"])
    defer { sender.stop() }
    sender.send(body(1))
    #expect(eventually { sender.statuses[0].lastError != nil })
    let sentence = sender.statuses[0].lastError ?? ""
    #expect(sentence.contains("that the port expects TLS"), "\(sentence)")
  }
}
