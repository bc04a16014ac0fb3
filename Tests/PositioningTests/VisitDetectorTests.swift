import Positioning
import RealModule
import Scanning
import TestSupport
import Testing

/// One situation each, in meters about an origin; a fix every ten seconds unless said otherwise.
@Suite struct VisitDetectorTests {
  static let origin = SimulatedDay.coordinate(47.37, 8.54)

  /// A detector with a receiver that can be moved.
  struct Course {
    var detector = VisitDetector()
    var now = 0.0
    var arrivals: [Visit] = []
    var departures: [Visit] = []
    var origin = VisitDetectorTests.origin
    var random = SplitMix64(seed: 1)

    mutating func take(_ changes: [VisitDetector.Change]) {
      for change in changes {
        switch change {
        case .arrived(let visit): arrivals.append(visit)
        case .departed(let visit): departures.append(visit)
        }
      }
    }

    mutating func fix(_ place: SIMD2<Double>, accuracy: Double = 8) {
      take(
        detector.receive(
          SimulatedDay.fix(at: now, place: place, accuracy: accuracy, from: origin)))
    }

    mutating func rest(
      at place: SIMD2<Double>, seconds: Double, every interval: Double = 10, jitter: Double = 3,
      accuracy: Double = 8
    ) {
      let end = now + seconds
      while now < end {
        now += interval
        fix(place + jitter * SIMD2(random.normal(), random.normal()), accuracy: accuracy)
      }
    }

    mutating func move(
      from start: SIMD2<Double>, to goal: SIMD2<Double>, speed: Double,
      every interval: Double = 10
    ) {
      let steps = max(Int(SimulatedDay.length(goal - start) / speed / interval), 1)
      for step in 1...steps {
        now += interval
        fix(start + Double(step) / Double(steps) * (goal - start))
      }
    }
  }

  static let far = SIMD2(-3000.0, 0)
  static let here = SIMD2(0.0, 0)

  /// Drives to a place, does something there, and drives away.
  func course(
    origin: Coordinate = VisitDetectorTests.origin,
    _ body: (inout Course) -> Void
  ) -> Course {
    var course = Course()
    course.origin = origin
    course.move(from: Self.far, to: Self.here, speed: 12)
    body(&course)
    course.move(from: Self.here, to: SIMD2(0, 4000), speed: 12)
    return course
  }

  @Test(arguments: [
    Self.origin, SimulatedDay.coordinate(10, 180),
    SimulatedDay.coordinate(89.9, 0), SimulatedDay.coordinate(-89.9, 179.99),
  ])
  func anArrivalIsReportedWhileTheStayLasts(origin: Coordinate) throws {
    var reported = 0.0
    let course = course(origin: origin) { course in
      while course.arrivals.isEmpty, course.now < 3000 { course.rest(at: Self.here, seconds: 10) }
      reported = course.now
      course.rest(at: Self.here, seconds: 250 + 900 - reported)
    }
    #expect(course.arrivals.count == 1)
    #expect(course.departures.count == 1)
    let arrival = try #require(course.arrivals.first?.arrival?.secondsOfDay)
    // 3 km at 12 m/s.
    #expect(abs(arrival - 250) <= 20)
    #expect(course.arrivals.first?.departure == nil)
    #expect(reported - arrival >= 300)
    #expect(reported - arrival <= 360)
    let visit = try #require(course.departures.first)
    #expect(visit.arrival == course.arrivals.first?.arrival)
    #expect(abs((visit.departure?.secondsOfDay ?? 0) - 1150) <= 20)
    let center = SimulatedDay.meters(visit.place, from: origin)
    #expect(SimulatedDay.length(center) <= 15)
    #expect(visit.horizontalAccuracy > 0 && visit.horizontalAccuracy <= 30)
  }

  @Test(arguments: [10.0, 30, 60, 90, 120, 240])
  func aStopIsNoVisit(seconds: Double) {
    let course = course { $0.rest(at: Self.here, seconds: seconds) }
    #expect(course.arrivals.isEmpty && course.departures.isEmpty)
  }

  @Test func aWaitForABusAfterAWalkIsNoVisit() {
    var course = Course()
    course.move(from: SIMD2(-800, 0), to: Self.here, speed: 1.3)
    course.rest(at: Self.here, seconds: 240)
    course.move(from: Self.here, to: SIMD2(0, 4000), speed: 9)
    #expect(course.arrivals.isEmpty && course.departures.isEmpty)
  }

  @Test(arguments: [0.6, 0.8, 1, 1.4])
  func aWalkIsNoVisit(speed: Double) {
    let course = course {
      $0.move(from: Self.here, to: SIMD2(500, 300), speed: speed)
      $0.move(from: SIMD2(500, 300), to: SIMD2(-200, 600), speed: speed)
      $0.move(from: SIMD2(-200, 600), to: Self.here, speed: speed)
    }
    #expect(course.arrivals.isEmpty && course.departures.isEmpty)
  }

  @Test func aJamIsNoVisit() {
    let course = course { course in
      var place = Self.here
      for _ in 0..<10 {
        course.rest(at: place, seconds: 100)
        course.move(from: place, to: place + SIMD2(0, 90), speed: 3)
        place += SIMD2(0, 90)
      }
    }
    #expect(course.arrivals.isEmpty && course.departures.isEmpty)
  }

  @Test(arguments: [30.0, 50, 70])
  func jitterIndoorsEndsNoStay(jitter: Double) {
    let course = course {
      $0.rest(at: Self.here, seconds: 12 * 3600, every: 30, jitter: jitter, accuracy: jitter)
    }
    #expect(course.arrivals.count == 1 && course.departures.count == 1)
  }

  @Test func driftForHoursEndsNoStay() {
    let course = course { course in
      for step in 0..<1000 {
        // A circle with a radius of 80 m within an hour.
        let angle = Double(step) / 19
        course.rest(
          at: 80 * SIMD2(1 - Double.cos(angle), Double.sin(angle)), seconds: 30, every: 30,
          jitter: 20, accuracy: 40)
      }
    }
    #expect(course.arrivals.count == 1 && course.departures.count == 1)
  }

  @Test(arguments: [(900.0, 10.0), (2500, 2000), (20_000, 3000)])
  func aBadFixEndsNoStay(distance: Double, accuracy: Double) {
    let course = course { course in
      for _ in 0..<20 {
        course.rest(at: Self.here, seconds: 300)
        course.now += 10
        course.fix(SIMD2(distance, 0), accuracy: accuracy)
      }
    }
    #expect(course.arrivals.count == 1 && course.departures.count == 1)
    #expect(course.departures.allSatisfy { SimulatedDay.length(meters($0)) < 15 })
  }

  func meters(_ visit: Visit) -> SIMD2<Double> {
    SimulatedDay.meters(visit.place, from: Self.origin)
  }

  @Test func onlyCoarseFixesFarAwayEndAStay() {
    var course = Course()
    course.move(from: Self.far, to: Self.here, speed: 12)
    course.rest(at: Self.here, seconds: 900)
    // A walk of 1 km with fixes of 800 m says nothing; a drive of 9 km does.
    course.rest(at: SIMD2(1000, 0), seconds: 600, accuracy: 800)
    #expect(course.departures.isEmpty)
    course.rest(at: SIMD2(9000, 0), seconds: 600, accuracy: 800)
    #expect(course.departures.count == 1)
  }

  @Test(arguments: [600.0, 3600, 36_000])
  func aGapThatEndsAtThePlaceIsOneStay(gap: Double) throws {
    let course = course {
      $0.rest(at: Self.here, seconds: 600)
      $0.now += gap
      $0.rest(at: SIMD2(40, 30), seconds: 600)
    }
    #expect(course.arrivals.count == 1)
    let visit = try #require(course.departures.first)
    #expect(course.departures.count == 1)
    let length = try #require(visit.departure).secondsOfDay - #require(visit.arrival).secondsOfDay
    #expect(abs(length - 1200 - gap) <= 90)
  }

  @Test func aBuildingWithoutSignalIsAVisit() throws {
    let course = course { $0.now += 3000 }
    let visit = try #require(course.departures.first)
    #expect(course.arrivals.count == 1 && course.departures.count == 1)
    let length = try #require(visit.departure).secondsOfDay - #require(visit.arrival).secondsOfDay
    #expect(abs(length - 3000) <= 60)
  }

  @Test func aTunnelIsNoVisit() {
    var course = Course()
    course.move(from: SIMD2(-3000, 0), to: Self.here, speed: 12)
    course.now += 1200
    course.move(from: SIMD2(3000, 0), to: SIMD2(6000, 0), speed: 12)
    #expect(course.arrivals.isEmpty && course.departures.isEmpty)
  }

  @Test func aGapThatEndsElsewhereEndsTheStayByTheWay() throws {
    var course = Course()
    course.move(from: Self.far, to: Self.here, speed: 12)
    course.rest(at: Self.here, seconds: 900)
    course.now += 7200
    let start = course.now
    course.rest(at: SIMD2(5000, 0), seconds: 900)
    let visit = try #require(course.departures.first)
    // 500 m at 1.4 m/s and 4,500 m at 10 m/s.
    #expect(abs(try #require(visit.departure).secondsOfDay - (start + 10 - 807)) <= 15)
    let next = try #require(course.arrivals.last?.arrival)
    #expect(course.arrivals.count == 2)
    #expect(abs(next.secondsOfDay - start - 10) <= 15)
  }

  @Test func aStayThatBeganBeforeTheStartHasNoArrival() throws {
    var course = Course()
    course.rest(at: Self.here, seconds: 1800)
    #expect(course.arrivals.isEmpty)
    #expect(course.detector.isStaying)
    course.move(from: Self.here, to: SIMD2(0, 4000), speed: 12)
    #expect(course.departures.count == 1)
    let visit = try #require(course.departures.first)
    #expect(visit.arrival == nil)
    #expect(abs(try #require(visit.departure).secondsOfDay - 1800) <= 20)
  }

  @Test func aShortAbsenceEndsNoStay() {
    let course = course {
      $0.rest(at: Self.here, seconds: 900)
      $0.move(from: Self.here, to: SIMD2(250, 0), speed: 3)
      $0.move(from: SIMD2(250, 0), to: Self.here, speed: 3)
      $0.rest(at: Self.here, seconds: 900)
    }
    #expect(course.arrivals.count == 1 && course.departures.count == 1)
  }

  /// The last fixes before a building swallows the signal are typical outliers.
  @Test(arguments: [0, 1, 2, 5])
  func outliersBeforeAGapEndNothing(count: Int) {
    var course = Course()
    course.rest(at: .zero, seconds: 1200)
    for _ in 0..<count {
      course.now += 1
      course.fix(SIMD2(320, 0))
    }
    course.now += 900
    course.rest(at: .zero, seconds: 1200)
    #expect(course.departures.isEmpty, "\(course.departures)")
    #expect(course.arrivals.count <= 1)
  }

  @Test func timeAloneEndsAStay() throws {
    var course = Course()
    course.move(from: Self.far, to: Self.here, speed: 12)
    course.rest(at: Self.here, seconds: 900)
    #expect(course.detector.deadline == nil)
    course.now += 30
    course.fix(SIMD2(400, 0))
    // One fix may be an outlier.
    #expect(course.detector.deadline == nil)
    course.now += 10
    course.fix(SIMD2(520, 0))
    let deadline = try #require(course.detector.deadline)
    #expect(deadline.secondsOfDay == course.now - 10 + 180)
    course.take(course.detector.advance(to: deadline.advanced(by: -1)))
    #expect(course.departures.isEmpty)
    course.take(course.detector.advance(to: deadline))
    #expect(course.departures.count == 1)
    #expect(course.detector.deadline == nil)
  }

  @Test func anOlderFixAndOneWithoutAccuracyAreIgnored() {
    var course = Course()
    course.move(from: Self.far, to: Self.here, speed: 12)
    course.rest(at: Self.here, seconds: 900)
    let before = course.detector
    course.now -= 100
    course.fix(SIMD2(9000, 0))
    course.now += 200
    for accuracy in [-1, .nan, .infinity] { course.fix(SIMD2(9000, 0), accuracy: accuracy) }
    #expect(course.detector == before)
  }
}
