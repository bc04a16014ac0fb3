import Positioning
import Scanning
import TestSupport
import Testing

@testable import ServiceCore

/// A client that does things in a random order.
private struct ClientDay {
  var updates = ClientUpdates(isAvailable: true)
  var random: SplitMix64
  /// The numbers of requests and deferrals so far.
  private(set) var (requests, deferrals) = (0, 0)
  private var second = 0.0
  private var meters = 0.0

  private static let start = Coordinate(latitude: 52.5, longitude: 13.4)

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  /// One fix of a receiver that rests for most of the time.
  private mutating func fix() -> Fix? {
    second += random.uniform(1, 120)
    if random.uniform() < 0.1 { meters += random.uniform(-2000, 2000) }
    return Self.start.map { start in
      Fix(
        time: MonotonicTime(nanoseconds: Int64(second * 1e9)),
        timestamp: WallClockTime(nanoseconds: 0), place: start.moved(meters, toward: 0),
        horizontalAccuracy: random.uniform(1, 60))
    }
  }

  private mutating func settings() -> UpdateSettings {
    var settings = UpdateSettings()
    settings.accuracy = random.uniform() < 0.8 ? .best : .kilometer
    settings.distanceFilter = random.uniform() < 0.8 ? nil : 50
    settings.activity = ActivityType.allCases.randomElement(using: &random) ?? .other
    settings.pausesAutomatically = random.uniform() < 0.8
    return settings
  }

  /// Does one thing, and returns its events.
  mutating func step() -> [LocationEvent] {
    switch Int.random(in: 0..<60, using: &random) {
    case 0, 1: updates.start(settings(), latest: nil)
    case 2: updates.change(settings())
    case 3: random.uniform() < 0.3 ? updates.stop() : []
    case 4, 5: request()
    case 6:
      {
        updates.cancelRequest()
        return []
      }()
    case 7, 8: allow()
    case 9: updates.disallowDeferral()
    case 10: updates.setAvailable(random.uniform() < 0.8)
    case 11: updates.refuse(Self.refusal)
    case 12: fix().map { updates.rest(at: $0) } ?? []
    case 13...30:
      updates.advance(
        to: MonotonicTime(nanoseconds: Int64(second * 1e9)),
        refusal: random.uniform() < 0.2 ? Self.refusal : nil)
    default: fix().map { updates.receive($0, at: $0.time, refusal: nil) } ?? []
    }
  }

  private static let refusal = LocationHealth(
    .denied, at: MonotonicTime(nanoseconds: 0), sentence: "the user denies it")

  /// Requests a fix, as the machine does it, where no request runs.
  private mutating func request() -> [LocationEvent] {
    guard !updates.isRequesting else { return [] }
    requests += 1
    return updates.request(.hundredMeters, known: nil, isRecent: false, isRefused: false)
  }

  private mutating func allow() -> [LocationEvent] {
    deferrals += 1
    return updates.allowDeferral(
      untilTraveled: random.uniform(-100, 2000), timeout: random.uniform(-100, 1000), at: nil)
  }
}

@Suite struct ClientUpdatesTests {
  @Test(.timeLimit(.minutes(10)), arguments: 0..<50 as Range<UInt64>)
  func whateverTheOrderEachRequestEndsOnce(seed: UInt64) {
    var day = ClientDay(seed: seed)
    var (answers, ends) = (0, 0)
    var isPaused = false
    var latest = MonotonicTime(nanoseconds: -1)
    for _ in 0..<1000 {
      let hadUpdates = day.updates.settings != nil
      let wasRequesting = day.updates.isRequesting
      let before = day.requests
      for event in day.step() {
        switch event {
        case .requestedFix, .requestTimedOut, .requestFailed:
          answers += 1
          #expect(wasRequesting || day.requests > before)
          #expect(!day.updates.isRequesting, "it is answered, and waits")
        case .deferralFinished(_, let held):
          ends += 1
          // A pause or a stop ends it with what was held before.
          for fix in held { expectLater(fix, &latest) }
        case .fixes(let fixes):
          #expect(hadUpdates && !isPaused)
          for fix in fixes { expectLater(fix, &latest) }
        case .paused:
          #expect(!isPaused)
          isPaused = true
        case .resumed:
          #expect(isPaused)
          isPaused = false
        default: Issue.record("\(event)")
        }
      }
      if day.updates.settings == nil { isPaused = false }
      #expect((day.updates.deadline == nil) || day.updates.isRequesting || ends < day.deferrals)
    }
    #expect(answers <= day.requests)
    ends += day.updates.disallowDeferral().count {
      if case .deferralFinished = $0 { true } else { false }
    }
    #expect(ends == day.deferrals)
  }

  private func expectLater(_ fix: Fix, _ latest: inout MonotonicTime) {
    #expect(fix.time > latest, "a fix comes twice or late")
    latest = fix.time
  }

  /// After a pause and a movement, a deferral is possible again.
  @Test func aDeferralIsPossibleAfterAPause() throws {
    let start = try #require(Coordinate(latitude: 52.5, longitude: 13.4))
    var updates = ClientUpdates(isAvailable: true)
    _ = updates.start(UpdateSettings(), latest: nil)
    func fix(_ second: Int64, _ meters: Double) -> Fix {
      Fix(
        time: MonotonicTime(nanoseconds: second * 1_000_000_000),
        timestamp: WallClockTime(nanoseconds: 0), place: start.moved(meters, toward: 0),
        horizontalAccuracy: 5)
    }
    func receive(_ fix: Fix) -> [LocationEvent] {
      updates.receive(fix, at: fix.time, refusal: nil)
    }
    var events: [LocationEvent] = []
    for second: Int64 in stride(from: 0, through: 1000, by: 10) {
      events += receive(fix(second, 0))
    }
    #expect(events.last == .paused)
    events = []
    for step: Int64 in 1...10 {
      events += receive(fix(1000 + step * 10, Double(step) * 500))
    }
    #expect(events.contains(.resumed))
    #expect(updates.allowDeferral(untilTraveled: 1e6, timeout: 1e6, at: nil) == [])
    #expect(receive(fix(2000, 6000)) == [])
  }
}
