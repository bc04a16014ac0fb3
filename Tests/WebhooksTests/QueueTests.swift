import Scanning
import Testing

@testable import Webhooks

@Suite struct ScheduleTests {
  private func moment(_ seconds: Double) -> MonotonicTime {
    MonotonicTime(nanoseconds: 0).advanced(bySeconds: seconds)
  }

  @Test func `one event is sent at a time, and the position follows it`() {
    var schedule = DeliverySchedule(WebhookConfiguration([]), place: "w", position: 10)
    #expect(schedule.due(at: moment(0)) == moment(0))
    schedule.begin(13, after: 12, hasGap: false)
    #expect(schedule.due(at: moment(0)) == nil && schedule.position == 12)
    #expect(schedule.end(.delivered, at: moment(1), factor: 1) == 13)
    schedule.begin(15, after: 14, hasGap: false)
    // What is being sent has not arrived.
    #expect(schedule.position == 14)
    #expect(schedule.end(.failed(retryAfter: 0), at: moment(1), factor: 1) == nil)
    schedule.begin(15, after: 14, hasGap: false)
    #expect(schedule.end(.refused, at: moment(3), factor: 1) == 15)
    #expect(schedule.due(at: moment(3)) == moment(3))
    #expect(
      schedule.status.deliveries == 1 && schedule.status.refused == 1
        && schedule.status.failures == 1)
    schedule.skip(to: 20)
    schedule.skip(to: 18)
    #expect(schedule.position == 20)
  }

  @Test func `events that are gone are counted once`() {
    var schedule = DeliverySchedule(WebhookConfiguration([]), place: "w", position: 10)
    schedule.begin(100, after: 99, hasGap: true)
    _ = schedule.end(.failed(retryAfter: 0), at: moment(0), factor: 1)
    #expect(schedule.position == 99 && schedule.status.gaps == 1)
    schedule.begin(100, after: 99, hasGap: false)
    #expect(schedule.end(.delivered, at: moment(1), factor: 1) == 100 && schedule.status.gaps == 1)
  }

  @Test func `delays double up to a minute, and an answer may ask for more`() {
    var schedule = DeliverySchedule(WebhookConfiguration([]), place: "w", position: 0)
    /// Fails an attempt, and returns the seconds until the next one.
    func fail(at time: MonotonicTime, retryAfter: Double = 0, factor: Double = 1) -> Double? {
      schedule.begin(1, after: 0, hasGap: false)
      _ = schedule.end(.failed(retryAfter: retryAfter), at: time, factor: factor)
      return schedule.due(at: time)?.seconds(since: time)
    }
    var now = moment(0)
    for expected in [1, 2, 4, 8, 16, 32, 60, 60.0] {
      #expect(fail(at: now) == expected)
      now = now.advanced(bySeconds: expected)
    }
    // At most an hour.
    for (asked, expected) in [(120.0, 120.0), (3, 60), (86400, 3600)] {
      #expect(fail(at: now, retryAfter: asked) == expected)
      now = now.advanced(bySeconds: expected)
    }
    schedule.begin(1, after: 0, hasGap: false)
    _ = schedule.end(.delivered, at: now, factor: 1)
    // The shortest again, and never less.
    #expect(fail(at: now, factor: 0.75) == 1)
    now = now.advanced(bySeconds: 1)
    #expect(fail(at: now, factor: 1.25) == 2.5)
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
