import Positioning
import Scanning
import TestSupport
import Testing

/// Returns a fix so many meters east of a place in Quito.
private func fix(_ seconds: Double, _ meters: Double, accuracy: Double = 5) -> Fix {
  SimulatedDay.fix(
    at: seconds, place: SIMD2(meters, 0), accuracy: accuracy,
    from: SimulatedDay.coordinate(-0.18, -78.47))
}

@Suite struct DistanceFilterTests {
  @Test(arguments: [nil, 0, -1] as [Double?])
  func withoutADistanceEachFixIsDelivered(distance: Double?) {
    var filter = DistanceFilter(distance: distance)
    #expect((0..<5).allSatisfy { filter.receive(fix(Double($0), 0)) })
  }

  @Test func theDistanceCountsFromTheLastDelivery() {
    var filter = DistanceFilter(distance: 100)
    let delivered = [0.0, 60, 98, 102, 150, 198, 203, 110, 99].map { filter.receive(fix(0, $0)) }
    #expect(delivered == [true, false, false, true, false, false, true, false, true])
  }

  @Test func aBetterReadingIsDelivered() {
    var filter = DistanceFilter(distance: 1000)
    let delivered = [2000.0, 1200, 1000, 900, 500, 400, 250].map {
      filter.receive(fix(0, 0, accuracy: $0))
    }
    #expect(delivered == [true, false, true, false, true, false, true])
  }
}

@Suite struct SignificantChangeTests {
  @Test func theCachedFixComesFirst() {
    var service = SignificantChange()
    #expect(service.start(cached: fix(-9000, 0)) == fix(-9000, 0))
    // It is old: a change comes at once.
    #expect(service.receive(fix(10, 100)) == nil)
    #expect(service.receive(fix(20, 520)) == fix(20, 520))
    #expect(service.start(cached: nil) == nil)
  }

  @Test func withoutACachedFixTheFirstIsDelivered() {
    var service = SignificantChange()
    #expect(service.start(cached: nil) == nil)
    #expect(service.receive(fix(0, 0)) == fix(0, 0))
    #expect(service.receive(fix(400, 0)) == nil)
    #expect(service.receive(fix(410, 495)) == nil)
    #expect(service.receive(fix(420, 505)) == fix(420, 505))
  }

  @Test func aChangeWithinFiveMinutesWaits() {
    var service = SignificantChange()
    _ = service.receive(fix(0, 0))
    #expect(service.deadline == nil)
    #expect(service.receive(fix(60, 600)) == nil)
    #expect(service.receive(fix(90, 900)) == nil)
    #expect(service.deadline?.secondsOfDay == 300)
    #expect(service.advance(to: MonotonicTime(nanoseconds: 299_999_999_999)) == nil)
    #expect(service.advance(to: MonotonicTime(nanoseconds: 300_000_000_000)) == fix(90, 900))
    #expect(service.deadline == nil)
    // The next five minutes count from the delivery.
    #expect(service.receive(fix(500, 1500)) == nil)
    #expect(service.receive(fix(601, 1600)) == fix(601, 1600))
  }

  @Test func whoReturnsWithinFiveMinutesHasNotMoved() {
    var service = SignificantChange()
    _ = service.receive(fix(0, 0))
    _ = service.receive(fix(60, 600))
    _ = service.receive(fix(200, 50))
    #expect(service.deadline == nil)
    #expect(service.receive(fix(400, 50)) == nil)
  }

  @Test func aFixWorseThanItsMovementIsNoChange() {
    var service = SignificantChange()
    _ = service.receive(fix(0, 0))
    #expect(service.receive(fix(400, 1500, accuracy: 2000)) == nil)
    #expect(service.receive(fix(500, 2500, accuracy: 2000)) != nil)
  }

  /// At most one in five minutes, and never 500 m and five minutes without one, on a drive with stops.
  @Test(arguments: [1 as UInt64, 2, 3])
  func deliveriesKeepTheirDistanceAndTime(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var service = SignificantChange()
    var (place, delivered, since, count) = (0.0, 0.0, -1000.0, 0)
    for second in stride(from: 0.0, to: 20_000, by: 5) {
      place += random.uniform(-30, 90)
      if service.receive(fix(second, place)) != nil {
        #expect(count == 0 || abs(place - delivered) >= 499 && second - since >= 300)
        (delivered, since, count) = (place, second, count + 1)
      }
      #expect(abs(place - delivered) <= 501 || second - since < 300)
    }
    #expect(count > 30)
  }
}

@Suite struct DeferredUpdatesTests {
  typealias Event = DeferredUpdates.Event
  static let conditions = DeferredUpdates.Conditions(isUpdating: true)
  static let start = MonotonicTime(nanoseconds: 0)

  static func deferring(_ distance: Double = 1000, _ timeout: Double = 60) -> DeferredUpdates {
    var updates = DeferredUpdates(conditions)
    #expect(updates.allow(untilTraveled: distance, timeout: timeout, at: start).isEmpty)
    return updates
  }

  @Test func withoutARequestEachFixIsDelivered() {
    var updates = DeferredUpdates(Self.conditions)
    #expect(updates.receive(fix(1, 0)) == [.deliver([fix(1, 0)])])
    #expect(updates.disallow().isEmpty)
    #expect(updates.deadline == nil)
  }

  @Test func theDistanceEndsTheRequest() {
    var updates = Self.deferring()
    #expect(updates.receive(fix(1, 0)).isEmpty)
    #expect(updates.receive(fix(2, 990)).isEmpty)
    #expect(
      updates.receive(fix(3, 1010)) == [
        .deliver([fix(1, 0), fix(2, 990), fix(3, 1010)]), .finish(nil),
      ])
    #expect(updates.receive(fix(4, 1020)) == [.deliver([fix(4, 1020)])])
    #expect(updates.advance(to: MonotonicTime(nanoseconds: .max)).isEmpty)
  }

  @Test func theTimeEndsTheRequest() {
    var updates = Self.deferring()
    _ = updates.receive(fix(1, 0))
    #expect(updates.deadline?.secondsOfDay == 60)
    #expect(updates.advance(to: MonotonicTime(nanoseconds: 59_999_999_999)).isEmpty)
    #expect(
      updates.advance(to: MonotonicTime(nanoseconds: 60_000_000_000)) == [
        .deliver([fix(1, 0)]), .finish(nil),
      ])
    #expect(!updates.isDeferring)
  }

  @Test func aFixAfterTheTimeEndsTheRequest() {
    var updates = Self.deferring()
    #expect(updates.receive(fix(61, 0)) == [.deliver([fix(61, 0)]), .finish(nil)])
  }

  @Test func theDistanceCountsFromThePlaceOfTheRequest() {
    var updates = DeferredUpdates(Self.conditions)
    _ = updates.receive(fix(0, -500))
    _ = updates.allow(untilTraveled: 1000, timeout: 60, at: Self.start)
    #expect(updates.receive(fix(1, 505)).last == .finish(nil))
  }

  @Test func anotherRequestCancelsTheFirst() {
    var updates = Self.deferring()
    _ = updates.receive(fix(1, 0))
    #expect(
      updates.allow(untilTraveled: 1, timeout: 1, at: Self.start) == [
        .deliver([fix(1, 0)]), .finish(.canceled),
      ])
    #expect(updates.isDeferring)
    #expect(updates.disallow() == [.finish(.canceled)])
    #expect(updates.disallow().isEmpty)
  }

  @Test(arguments: [
    (DeferredUpdates.Conditions(isUpdating: false), DeferredUpdatesError.notUpdatingLocation),
    (.init(isUpdating: true, accuracy: .tenMeters), .accuracyTooLow),
    (.init(isUpdating: true, distanceFilter: 10), .distanceFiltered),
    (.init(isUpdating: true, isAvailable: false), .failed),
  ])
  func aConditionThatDoesNotHoldIsAnError(
    conditions: DeferredUpdates.Conditions, error: DeferredUpdatesError
  ) {
    var updates = DeferredUpdates(conditions)
    #expect(
      updates.allow(untilTraveled: 1000, timeout: 60, at: Self.start) == [.finish(error)])
    #expect(!updates.isDeferring)
    // The same during a request.
    var others = Self.deferring()
    _ = others.receive(fix(1, 0))
    #expect(others.set(conditions) == [.deliver([fix(1, 0)]), .finish(error)])
    #expect(others.set(conditions).isEmpty)
    #expect(others.receive(fix(2, 0)) == [.deliver([fix(2, 0)])])
  }

  @Test(arguments: [
    (0.0, 60.0), (-1, 60), (.nan, 60), (1000, 0), (1000, -1), (1000, .nan),
  ])
  func aRequestWithoutALimitFails(distance: Double, timeout: Double) {
    var updates = DeferredUpdates(Self.conditions)
    let events = updates.allow(untilTraveled: distance, timeout: timeout, at: Self.start)
    #expect(events == [.finish(.failed)])
  }

  @Test(arguments: [Double.greatestFiniteMagnitude, .infinity, 1e10])
  func theGreatestNumberIsNoLimit(number: Double) {
    var updates = Self.deferring(number, number)
    #expect(updates.deadline == nil)
    #expect(updates.receive(fix(1e9, 0)).isEmpty)
    #expect(updates.receive(fix(2e9, 1e6)).isEmpty)
  }

  @Test func fullOfFixesItDeliversThemAndGoesOn() {
    var updates = Self.deferring(1e6, 1e6)
    let fixes = (0..<(2 * DeferredUpdates.capacity + 10)).map { fix(Double($0), 0) }
    var events: [Event] = []
    for fix in fixes { events += updates.receive(fix) }
    #expect(events.count == 2)
    events += updates.disallow()
    #expect(events.count == 4)
    let delivered = events.flatMap { event in
      if case .deliver(let fixes) = event { fixes } else { [] as [Fix] }
    }
    #expect(delivered == fixes)
    #expect(events.last == .finish(.canceled))
  }

  /// Whatever happens, each request finishes once and each fix is delivered once, in order.
  @Test(arguments: 0..<20 as Range<UInt64>)
  func eachRequestFinishesOnce(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var updates = DeferredUpdates(Self.conditions)
    var (requests, finishes) = (0, 0)
    var (given, delivered): ([Fix], [Fix]) = ([], [])
    for second in 0..<5000 {
      let now = MonotonicTime(nanoseconds: Int64(second) * 1_000_000_000)
      var events = updates.advance(to: now)
      switch random.next() % 40 {
      case 0:
        requests += 1
        events += updates.allow(
          untilTraveled: random.uniform(-10, 300), timeout: random.uniform(-10, 300), at: now)
      case 1: events += updates.disallow()
      case 2:
        events += updates.set(
          .init(isUpdating: random.uniform() < 0.7, isAvailable: random.uniform() < 0.7))
      default:
        given.append(fix(Double(second), random.uniform(0, 300)))
        events += updates.receive(given[given.count - 1])
      }
      for event in events {
        switch event {
        case .deliver(let fixes): delivered += fixes
        case .finish: finishes += 1
        }
      }
    }
    for event in updates.disallow() {
      switch event {
      case .deliver(let fixes): delivered += fixes
      case .finish: finishes += 1
      }
    }
    #expect(requests > 50)
    #expect(finishes == requests)
    #expect(delivered == given)
  }
}

@Suite struct PauseRuleTests {
  /// The radius in meters and the minutes of each activity.
  @Test(arguments: [
    (ActivityType.other, 50.0, 15.0), (.automotiveNavigation, 100, 20), (.fitness, 50, 10),
    (.otherNavigation, 200, 30), (.airborne, 500, 60),
  ])
  func restPausesAndMovementResumes(activity: ActivityType, radius: Double, minutes: Double) {
    var rule = PauseRule(activity: activity)
    var random = SplitMix64(seed: 7)
    for second in stride(from: 0.0, to: minutes * 60, by: 10) {
      let jittered = fix(second, 25 * random.normal(), accuracy: 30)
      #expect(rule.receive(jittered) == nil)
    }
    #expect(rule.receive(fix(minutes * 60, 0)) == .paused)
    #expect(rule.isPaused)
    #expect(rule.receive(fix(8000, radius)) == nil)
    // One alone may be an outlier.
    #expect(rule.receive(fix(8060, radius + 400)) == nil)
    #expect(rule.receive(fix(8120, 0)) == nil)
    #expect(rule.receive(fix(8180, radius + 400)) == nil)
    #expect(rule.receive(fix(8240, radius + 900)) == .resumed)
    #expect(!rule.isPaused)
    // The time begins anew.
    #expect(rule.receive(fix(8250, radius + 900)) == nil)
  }

  @Test(arguments: ActivityType.allCases)
  func aWalkDoesNotPause(activity: ActivityType) {
    var rule = PauseRule(activity: activity)
    let changes = stride(from: 0.0, to: 10_000, by: 10).compactMap { rule.receive(fix($0, $0)) }
    #expect(changes.isEmpty)
  }

  @Test func aSilentSourceIsNoRest() {
    var rule = PauseRule()
    _ = rule.receive(fix(0, 0))
    #expect(rule.receive(fix(9000, 5000)) == nil)
  }

  @Test func theClientResumes() {
    var rule = PauseRule()
    _ = rule.receive(fix(0, 0))
    _ = rule.receive(fix(900, 0))
    #expect(rule.start(activity: .fitness) == .resumed)
    #expect(rule.start(activity: .fitness) == nil)
    #expect(rule.receive(fix(910, 0)) == nil)
    #expect(rule.receive(fix(1509, 0)) == nil)
    #expect(rule.receive(fix(1511, 0)) == .paused)
  }
}
