import Scanning
import Testing

@testable import Webhooks

/// A queue, and the numbers of what it returns.
private struct TestedQueue {
  var queue: DeliveryQueue
  /// The number of the event that was sent last.
  var sent: String?
  var madeRoom = false

  init(_ change: (inout WebhookConfiguration) -> Void = { _ in }) {
    var configuration = WebhookConfiguration([])
    change(&configuration)
    queue = DeliveryQueue(configuration)
  }

  mutating func append(_ number: Int) {
    madeRoom = queue.append(WebhookMessage(number: Int64(number), id: "\(number)", body: []))
  }

  mutating func send(at time: MonotonicTime) { sent = queue.next(at: time)?.id }

  /// Fails what is sent, and returns the seconds until it can be sent again.
  mutating func fail(
    at time: MonotonicTime, retryAfter: Double = 0, factor: Double = 1
  ) -> Double? {
    queue.end(.failed(retryAfter: retryAfter), at: time, factor: factor)
    return queue.due(at: time)?.seconds(since: time)
  }
}

@Suite struct QueueTests {
  private func moment(_ seconds: Double) -> MonotonicTime {
    MonotonicTime(nanoseconds: 0).advanced(bySeconds: seconds)
  }

  @Test func `one event is sent at a time, in order`() {
    var tested = TestedQueue()
    for number in 1...3 { tested.append(number) }
    tested.send(at: moment(0))
    #expect(tested.sent == "1" && tested.queue.due(at: moment(0)) == nil)
    tested.send(at: moment(0))
    #expect(tested.sent == nil && tested.queue.count == 3)
    tested.queue.end(.delivered, at: moment(1), factor: 1)
    tested.send(at: moment(1))
    #expect(tested.sent == "2")
    tested.queue.end(.refused, at: moment(1), factor: 1)
    tested.send(at: moment(1))
    #expect(tested.sent == "3")
    tested.queue.end(.delivered, at: moment(1), factor: 1)
    #expect(tested.queue.due(at: moment(1)) == nil && tested.queue.count == 0)
    #expect(tested.queue.deliveries == 2 && tested.queue.refused == 1)
  }

  @Test func `delays double up to a minute, and an answer may ask for more`() {
    var tested = TestedQueue()
    tested.append(1)
    var now = moment(0)
    for expected in [1, 2, 4, 8, 16, 32, 60, 60.0] {
      tested.send(at: now)
      #expect(tested.sent == "1")
      let pause = tested.fail(at: now)
      #expect(pause == expected)
      now = now.advanced(bySeconds: expected - 0.001)
      tested.send(at: now)
      #expect(tested.sent == nil)
      now = now.advanced(bySeconds: 0.001)
    }
    // At most an hour.
    for (asked, expected) in [(120.0, 120.0), (3, 60), (86400, 3600)] {
      tested.send(at: now)
      let pause = tested.fail(at: now, retryAfter: asked)
      #expect(pause == expected)
      now = now.advanced(bySeconds: expected)
    }
    tested.send(at: now)
    tested.queue.end(.delivered, at: now, factor: 1)
    tested.append(2)
    tested.send(at: now)
    // The shortest again, and never less.
    let first = tested.fail(at: now, factor: 0.75)
    #expect(first == 1)
    now = now.advanced(bySeconds: 1)
    tested.send(at: now)
    let second = tested.fail(at: now, factor: 1.25)
    #expect(second == 2.5)
  }

  @Test func `the oldest make room, and are counted`() {
    var tested = TestedQueue { $0.maximumEvents = 3 }
    tested.append(0)
    tested.send(at: moment(0))
    for number in 1...3 {
      tested.append(number)
      #expect(!tested.madeRoom)
    }
    tested.append(4)
    #expect(tested.madeRoom)
    // The one that was being sent is the oldest when it comes back.
    _ = tested.fail(at: moment(0))
    #expect(tested.queue.dropped == 2 && tested.queue.count == 3)
    tested.send(at: moment(1))
    #expect(tested.sent == "2")
  }

  @Test func `the mark is behind the last event that is needed no more`() {
    var tested = TestedQueue { $0.maximumEvents = 2 }
    #expect(tested.queue.mark == nil)
    tested.queue.begin(after: 10)
    #expect(tested.queue.mark == 10)
    tested.append(13)
    #expect(tested.queue.mark == 12)
    tested.send(at: moment(0))
    tested.append(15)
    tested.append(17)
    // What is being sent has not arrived.
    #expect(tested.queue.mark == 12)
    _ = tested.fail(at: moment(0))
    #expect(tested.queue.mark == 14 && tested.queue.dropped == 1)
    tested.send(at: moment(1))
    tested.queue.end(.refused, at: moment(1), factor: 1)
    #expect(tested.queue.mark == 16)
    tested.send(at: moment(1))
    tested.queue.end(.delivered, at: moment(1), factor: 1)
    #expect(tested.queue.mark == 17)
  }
}

@Suite struct SecretTests {
  /// RFC 4231, sections 4.2 to 4.4 and 4.7 to 4.8.
  @Test(arguments: [
    (
      [UInt8](repeating: 0x0B, count: 20), "Hi There",
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), "what do ya want for nothing?",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      [UInt8](repeating: 0xAA, count: 131),
      "Test Using Larger Than Block-Size Key - Hash Key First",
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
    (
      [UInt8](repeating: 0xAA, count: 131),
      "This is a test using a larger than block-size key and a larger than block-size data. The key "
        + "needs to be hashed before being used by the HMAC algorithm.",
      "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
    ),
  ])
  func `codes are those of the specification`(key: [UInt8], message: String, code: String) {
    let digits = WebhookSecret.code(Array(message.utf8), key: key).map {
      ($0 < 16 ? "0" : "") + String($0, radix: 16)
    }
    #expect(digits.joined() == code)
  }

  /// The example of Standard Webhooks' reference libraries.
  @Test func `a signature is that of the reference libraries`() {
    let secret = WebhookSecret(Array("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".utf8))
    #expect(
      secret?.signature(
        id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330,
        body: Array(#"{"test": 2432232314}"#.utf8))
        == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  @Test(arguments: [
    "", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS",
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa==", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa-_",
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw MfKQ", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZI====LaSw",
    "whsec_" + String(repeating: "AAAA", count: 22),
  ])
  func `what is no secret`(text: String) { #expect(WebhookSecret(Array(text.utf8)) == nil) }

  @Test(arguments: 24...64) func `secrets of every length`(count: Int) {
    let key = (0..<count).map { UInt8($0 * 7 & 0xFF) }
    #expect(WebhookSecret(Array("whsec_\(WebhookSecret.base64(of: key))".utf8)) != nil)
  }
}

@Suite struct URLTests {
  @Test func `a fingerprint differs with each part of a URL, and has none of them`() throws {
    let texts = [
      "http://a.example/x?key=1", "http://a.example/x?key=2", "https://a.example/x?key=1",
      "http://b.example/x?key=1",
    ]
    let names = try texts.map { try #require(WebhookURL($0)).fingerprint }
    #expect(Set(names).count == texts.count)
    #expect(try #require(WebhookURL(texts[0])).fingerprint == names[0])
    #expect(names.allSatisfy { $0.count == 44 && !$0.contains(" ") && !$0.contains("example") })
  }

  @Test(arguments: [
    ("http://localhost", "localhost"), ("https://example.com/a?b=c", "example.com"),
    ("HTTPS://Example.com:8443/", "Example.com:8443"), ("http://[::1]:80/x", "[::1]:80"),
    ("http://name:secret@192.0.2.7/x", "192.0.2.7"),
    ("http://kiosk_1.local?key=1", "kiosk_1.local"),
  ])
  func `a URL has a host that may be shown`(text: String, place: String) {
    #expect(WebhookURL(text)?.place == place)
  }

  @Test(arguments: [
    "", "example.com", "ftp://example.com", "file:///etc/passwd", "http://", "http:///x",
    "http://a b", "http://exämple.com", "http://example.com:0", "http://example.com:65536",
    "http://example.com:", "http://a@b@c", "http://a\\@b", "http://example.com/#x",
    "http://example.com/\n", "http://[example]", "http://[::1", "http://::1/", "http://a:b:1/",
    "http://%65xample.com", "http://x/" + String(repeating: "a", count: 5000),
  ])
  func `what is no URL`(text: String) { #expect(WebhookURL(text) == nil) }
}
