import Foundation
import ServiceCore
import TestDaemons
import TestSupport

@testable import Webhooks

/// A server in Python that answers as a test says: `receiver.py` has the forms of answers.
final class Receiver {
  let port: Int
  private let daemon: Daemon
  private let scratch: Scratch

  struct Request: Decodable {
    var path: String
    var body: String
    /// What it was answered.
    var answer: String
    var id: String?
    var agent: String
    var type: String
    var isSigned: Bool
    /// Whether the signature is right.
    var isRight: Bool
  }

  private struct NotStarted: Error, CustomStringConvertible {
    let log: String
    var description: String { "the receiver did not start: \(log)" }
  }

  init(_ answers: [String], secret: String = "-", certificate: String = "-") throws {
    let scratch = try Scratch()
    self.scratch = scratch
    let program = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "receiver.py")
    let daemon = try Daemon(
      [
        "/usr/bin/env", "python3", program.path, scratch["requests"], secret, certificate,
      ] + answers, log: scratch["log"])
    self.daemon = daemon
    let isThere = eventually { !Self.lines(scratch).isEmpty || !daemon.isRunning }
    guard isThere, let port = Self.lines(scratch).first.flatMap({ Int($0) }) else {
      throw NotStarted(log: String(decoding: try scratch.bytes("log"), as: UTF8.self))
    }
    self.port = port
  }

  private static func lines(_ scratch: Scratch) -> [Substring] {
    let bytes = (try? scratch.bytes("requests")) ?? []
    // A line that is being written has no end yet.
    return String(decoding: bytes, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).dropLast()
  }

  /// What has come so far.
  var requests: [Request] {
    Self.lines(scratch).dropFirst().compactMap {
      try? JSONDecoder().decode(Request.self, from: Data($0.utf8))
    }
  }

  func kill() { daemon.kill() }
}

/// Senders of which a test sees what they report.
final class Reports: Sendable {
  private let scene = LockedReports()

  /// A sender that tries again soon.
  func sender(
    to texts: [String], _ change: (inout WebhookConfiguration) -> Void = { _ in }
  ) throws -> TestedSender {
    var configuration = WebhookConfiguration(texts.compactMap(WebhookURL.init))
    configuration.retryDelay = 0.01...0.05
    configuration.userAgent = "beaconscan/1.2.3"
    // No test waits for it: what is slow is a fault only where it is tested.
    configuration.answerTime = 600
    change(&configuration)
    let events = TestJournal()
    let readers = configuration.urls.map {
      JournalReader(events.journal, name: $0.fingerprint, kinds: ["enter"])
    }
    let sender = try WebhookSender(configuration, from: readers) { [scene] report in
      scene.append(report)
    }
    sender.start()
    return TestedSender(events: events, sender: sender)
  }

  var all: [WebhookReport] { scene.all }
}

/// A sender, and the journal that it reads.
struct TestedSender: Sendable {
  let events: TestJournal
  let sender: WebhookSender

  var statuses: [WebhookStatus] { sender.statuses }

  func send(_ body: [UInt8], kind: String = "enter") {
    events.append(body, kind: kind)
    sender.wake()
  }

  /// The identifiers of events by their numbers.
  func ids(_ numbers: [Int64]) -> [String] { numbers.map { events.journal.text(of: $0) } }

  func stop() { sender.stop() }
}
