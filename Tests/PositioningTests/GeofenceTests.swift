import Foundation
import Positioning
import Scanning
import TestSupport
import Testing

@Suite struct GeofenceTests {
  private let plane = Plane()

  /// Returns a monitor of a circle of 200 m around the origin.
  private func monitor(radius: Double = 200, assuming state: GeofenceState = .unknown) throws
    -> GeofenceMonitor
  {
    var monitor = GeofenceMonitor()
    try monitor.add(plane.circle("a", .zero, radius: radius), assuming: state)
    return monitor
  }

  private func changes(_ transitions: [GeofenceTransition]) -> [GeofenceTransition.Change] {
    transitions.map(\.change)
  }

  @Test(arguments: [0, -1, -.infinity, .infinity, .nan, CircularRegion.maximumRadius + 1])
  func aRadiusThatCannotBeIsRefused(radius: Double) throws {
    #expect(throws: GeofenceError.self) { try plane.circle("a", .zero, radius: radius) }
    let text =
      #"{"identifier":"a","center":{"latitude":1,"longitude":2},"radius":\#(radius == 0 ? "0" : "-1")}"#
    #expect(throws: GeofenceError.self) {
      try JSONDecoder().decode(CircularRegion.self, from: Data(text.utf8))
    }
  }

  @Test(arguments: [0.1, 100, CircularRegion.maximumRadius])
  func aRadiusThatCanBeIsKept(radius: Double) throws {
    let region = try plane.circle("a", .zero, radius: radius)
    #expect(region.radius == radius)
    let stored = try JSONEncoder().encode(region)
    #expect(try JSONDecoder().decode(CircularRegion.self, from: stored) == region)
  }

  @Test func aWalkThroughIsDeterminedEnteredAndLeft() throws {
    var monitor = try monitor()
    var transitions: [GeofenceTransition] = []
    for second in 0..<600 {
      transitions += monitor.receive(
        plane.fix(Double(second), SIMD2(Double(second) * 1.4 - 420, 0)))
    }
    #expect(changes(transitions) == [.determined(.outside), .enter, .exit])
    #expect(transitions.map(\.previous) == [.unknown, .outside, .inside])
    // The boundary is at 157.1 s and 442.9 s.
    #expect(transitions[0].time == at(1))
    #expect(transitions[0].reason.rule == .clear)
    for (transition, crossed) in zip(transitions[1...], [157.1, 442.9]) {
      #expect(transition.time.seconds(since: at(crossed)) > 0)
      #expect(transition.time.seconds(since: at(crossed)) < 40)
      #expect(transition.reason.rule == .travel)
      #expect(transition.reason.accuracy == 5)
      #expect(transition.reason.dwell < 40)
      #expect(transition.reason.dwell >= 10)
    }
    #expect(transitions[1].reason.distanceOutside < -10)
    #expect(transitions[2].reason.distanceOutside > 10)
    #expect(monitor.status(of: "a")?.state == .outside)
    #expect(monitor.status(of: "a")?.since == transitions[2].time)
  }

  /// A deadline that stays in the past would keep its client busy.
  @Test(arguments: 0..<200 as Range<UInt64>)
  func aDeadlineThatHasComeIsOver(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var monitor = try monitor(radius: 100)
    let isInside = seed.isMultiple(of: 2)
    _ = monitor.receive(plane.fix(0, SIMD2(isInside ? 0 : 300, 0)))
    _ = monitor.advance(to: at(60))
    #expect(monitor.status(of: "a")?.state == (isInside ? .inside : .outside))
    // Some fixes near the boundary, too coarse to decide, then one anywhere.
    let distance = Double.random(in: 20...200, using: &random)
    var second = 60.0
    for _ in 0..<Int.random(in: 1...12, using: &random) {
      second += Double.random(in: 1...30, using: &random)
      _ = monitor.receive(plane.fix(second, SIMD2(distance, 0), accuracy: 40))
    }
    _ = monitor.receive(
      plane.fix(second + 1, SIMD2(Double.random(in: 0...250, using: &random), 0), accuracy: 5))
    var deadlines = 0
    while let deadline = monitor.nextDeadline(), deadlines < 10 {
      _ = monitor.advance(to: deadline)
      deadlines += 1
      #expect(monitor.nextDeadline().map { $0 > deadline } ?? true)
    }
    #expect(deadlines < 10)
  }

  /// A device that rests in the middle of a circle knows it within ten seconds, where its fixes allow it.
  @Test(arguments: [30.0, 50, 100, 150, 200, 1000], [1.0, 5])
  func theFirstStateOfARestingDeviceComesWithinTenSeconds(radius: Double, every interval: Double)
    throws
  {
    var random = SplitMix64(seed: 7)
    var right = 0
    for _ in 0..<200 {
      var monitor = try monitor(radius: radius)
      var found: [GeofenceTransition.Change] = []
      // ±9 m of 68 %: 5.96 m along each axis.
      for second in stride(from: 0, through: 10, by: interval) {
        let error = 5.96 * SIMD2(random.normal(), random.normal())
        found += changes(monitor.receive(plane.fix(second, error, accuracy: 9)))
      }
      right += found == [.determined(.inside)] ? 1 : 0
      #expect(!found.contains(.determined(.outside)))
    }
    #expect(right >= 190, "\(right) of 200")
  }

  /// A drive straight through a circle just after the start is an entry, or begins inside, and is an exit.
  @Test(arguments: [60.0, 90, 120, 150, 170])
  func aDriveThroughAfterTheStartIsNotMissed(before: Double) throws {
    var random = SplitMix64(seed: UInt64(before))
    for number in 0..<40 {
      var monitor = try monitor(radius: 100)
      var found: [GeofenceTransition.Change] = []
      for second in stride(from: 0.0, through: 60, by: 1) {
        let error = 3 * SIMD2(random.normal(), random.normal())
        let place = SIMD2(10 * second - before - 100, 0) + error
        found += changes(monitor.receive(plane.fix(second, place, accuracy: 5)))
      }
      let isInside = found.contains(.enter) || found.first == .determined(.inside)
      #expect(isInside && found.contains(.exit), "\(number): \(found)")
    }
  }

  /// Apps for phones use radii of 5 to 20 m, which no receiver can tell.
  @Test(arguments: [1.0, 5, 20, 49])
  func aSmallCircleIsMonitoredWithFiftyMeters(radius: Double) throws {
    var monitor = GeofenceMonitor()
    try monitor.add(plane.circle("c", .zero, radius: radius))
    var changes: [GeofenceTransition.Change] = []
    // A walk past the center with a pause there, and away.
    for second in 0..<400 {
      let north = Double(min(second, 150) - 150) * 1.4 + Double(max(0, second - 250)) * 1.4
      changes += monitor.receive(plane.fix(Double(second), SIMD2(0, north), accuracy: 9)).map(
        \.change)
    }
    #expect(changes == [.determined(.outside), .enter, .exit])
    #expect(monitor.remove("c")?.radius == radius)
  }

  /// A car that waited at a light near the boundary leaves the circle for a minute: its start is a path, no reflection.
  @Test(arguments: [5.0, 9, 15])
  func aStartFromARestIsAPath(accuracy: Double) throws {
    var monitor = GeofenceMonitor()
    try monitor.add(plane.circle("c", SIMD2(0, -1000), radius: 1000))
    var (changes, north): ([GeofenceTransition.Change], Double) = ([], -600)
    for second in 0..<400 {
      switch second {
      case ..<50: north += 11.6
      case 50..<95: break
      case 95..<112: north += 11.6
      case 112..<150: break
      case 150..<200: north -= 11.6
      default: break
      }
      let fix = plane.fix(Double(second), SIMD2(300, north), accuracy: accuracy)
      changes += monitor.receive(fix).map(\.change)
    }
    #expect(changes == [.determined(.inside), .exit, .enter])
  }

  /// A receiver at an edge wanders by 30 m over ten minutes and states 10 m. What its first fixes say is provisional: a stay
  /// that proves it wrong was no crossing, however late.
  @Test(arguments: 0..<8 as Range<UInt64>)
  func aFirstStateAtAnEdgeIsCorrectedWithoutACrossing(seed: UInt64) throws {
    var monitor = GeofenceMonitor()
    try monitor.add(plane.circle("c", SIMD2(0, -500), radius: 500))
    var jitter = Jitter(seed: seed, deviation: 30, correlation: 600)
    var crossings = 0
    for second in 0..<20_000 {
      let fix = plane.fix(Double(second), jitter.next(after: 1), accuracy: 10)
      crossings += monitor.receive(fix).count { $0.change.isCrossing }
    }
    #expect(crossings == 0)
  }

  @Test func oneFixWithoutASuccessorDeterminesTheFirstState() throws {
    var monitor = try monitor()
    #expect(monitor.receive(plane.fix(5, .zero)).isEmpty)
    #expect(monitor.nextDeadline() == at(15))
    #expect(monitor.advance(to: at(14.9)).isEmpty)
    let transitions = monitor.advance(to: at(99))
    #expect(changes(transitions) == [.determined(.inside)])
    #expect(transitions.first?.time == at(15))
    #expect(transitions.first?.reason.rule == .silence)
    #expect(monitor.nextDeadline() == nil)
  }

  @Test func aSourceThatReportsMovementsOnlyCrossesAfterSilence() throws {
    var monitor = try monitor()
    _ = monitor.receive(plane.fix(0, .zero))
    #expect(changes(monitor.receive(plane.fix(1, .zero))) == [.determined(.inside)])
    #expect(monitor.advance(to: at(50)).isEmpty)
    #expect(monitor.receive(plane.fix(60, SIMD2(500, 0))).isEmpty)
    #expect(monitor.nextDeadline() == at(360))
    #expect(monitor.advance(to: at(359)).isEmpty)
    let transitions = monitor.advance(to: at(360))
    #expect(changes(transitions) == [.exit])
    #expect(transitions.first?.reason.rule == .silence)
    #expect(transitions.first?.reason.dwell == 300)
  }

  @Test(arguments: [1, 10, 60] as [Double])
  func aSingleOutlierCrossesNothing(interval: Double) throws {
    var monitor = try monitor()
    var transitions: [GeofenceTransition] = []
    for index in 0..<300 {
      let point: SIMD2<Double> = index % 30 == 20 ? SIMD2(500, 0) : .zero
      transitions += monitor.receive(plane.fix(Double(index) * interval, point))
    }
    #expect(changes(transitions) == [.determined(.inside)])
  }

  @Test func aFixOutOfOrderOrWithoutAccuracyIsIgnored() throws {
    var monitor = try monitor()
    for second in 0..<60 { _ = monitor.receive(plane.fix(Double(second), .zero)) }
    for second in 0..<60 {
      #expect(monitor.receive(plane.fix(Double(second), SIMD2(900, 0))).isEmpty)
    }
    #expect(monitor.receive(plane.fix(100, .zero, accuracy: .nan)).isEmpty)
    #expect(monitor.receive(plane.fix(100, .zero, accuracy: -1)).isEmpty)
    #expect(monitor.receive(plane.fix(100, .zero, accuracy: .infinity)).isEmpty)
    #expect(monitor.status(of: "a")?.state == .inside)
  }

  @Test func anOldFixDoesNotDecideWhatTheReceiverMayHaveLeft() throws {
    var monitor = try monitor()
    _ = monitor.advance(to: at(120))
    // 60 s old: the receiver may have moved by 4.2 km.
    #expect(monitor.receive(plane.fix(60, SIMD2(2000, 0))).isEmpty)
    #expect(monitor.receive(plane.fix(61, SIMD2(2000, 0))).isEmpty)
    #expect(monitor.advance(to: at(200)).isEmpty)
    #expect(monitor.status(of: "a")?.isDetermined == false)
    #expect(monitor.receive(plane.fix(199, SIMD2(2000, 0))).isEmpty)
    #expect(changes(monitor.receive(plane.fix(200, SIMD2(2000, 0)))) == [.determined(.outside)])
  }

  @Test func aCoarseFixDecidesOnlyWhatItCan() throws {
    var monitor = try monitor()
    try monitor.add(plane.circle("large", .zero, radius: 10_000))
    try monitor.add(plane.circle("far", SIMD2(30_000, 0), radius: 1000))
    var transitions: [GeofenceTransition] = []
    for index in 0..<200 {
      transitions += monitor.receive(plane.fix(Double(index) * 30, .zero, accuracy: 2000))
    }
    transitions += monitor.advance(to: at(20_000))
    #expect(transitions.map(\.region).sorted() == ["far", "large"])
    #expect(monitor.status(of: "a")?.state == .unknown)
    #expect(monitor.status(of: "large")?.state == .inside)
    #expect(monitor.status(of: "far")?.state == .outside)
  }

  @Test func aRestartInsideEntersNothing() throws {
    var first = try monitor()
    for second in 0..<5 { _ = first.receive(plane.fix(Double(second), .zero)) }
    let state = try #require(first.status(of: "a")?.state)
    var second = try monitor(assuming: state)
    #expect(second.status(of: "a")?.state == .inside)
    #expect(second.status(of: "a")?.isDetermined == false)
    var transitions: [GeofenceTransition] = []
    for index in 0..<60 { transitions += second.receive(plane.fix(Double(index), .zero)) }
    #expect(changes(transitions) == [.determined(.inside)])
    #expect(transitions.first?.previous == .inside)
  }

  @Test(arguments: [true, false])
  func aRestartOnTheOtherSideCrosses(hasSuccessor: Bool) throws {
    var monitor = try monitor(assuming: .inside)
    var transitions = monitor.receive(plane.fix(0, SIMD2(1000, 0)))
    if hasSuccessor {
      transitions += monitor.receive(plane.fix(1, SIMD2(1000, 0)))
    } else {
      transitions += monitor.advance(to: at(10))
    }
    #expect(changes(transitions) == [.exit, .determined(.outside)])
    #expect(transitions.map(\.previous) == [.inside, .inside])
  }

  @Test func aCircleIsReplacedAndRemoved() throws {
    var monitor = try monitor()
    _ = monitor.receive(plane.fix(0, .zero))
    #expect(changes(monitor.receive(plane.fix(1, .zero))) == [.determined(.inside)])
    try monitor.add(plane.circle("a", SIMD2(5000, 0), radius: 100))
    #expect(monitor.status(of: "a")?.state == .unknown)
    _ = monitor.receive(plane.fix(2, .zero))
    #expect(changes(monitor.receive(plane.fix(3, .zero))) == [.determined(.outside)])
    #expect(monitor.remove("a")?.radius == 100)
    #expect(monitor.remove("a") == nil)
    #expect(monitor.status(of: "a") == nil)
    #expect(monitor.receive(plane.fix(4, SIMD2(5000, 0))).isEmpty)
    #expect(monitor.receive(plane.fix(5, SIMD2(5000, 0))).isEmpty)
    #expect(monitor.nearestBoundary() == nil)
    #expect(monitor.nextDeadline() == nil)
  }

  @Test func moreCirclesThanFitAreRefused() throws {
    var monitor = GeofenceMonitor()
    let limit = GeofenceMonitor.maximumRegions
    for number in 1..<limit { try monitor.add(plane.circle("\(number)", .zero, radius: 1)) }
    try monitor.add(plane.circle("b", .zero, radius: 1))
    try monitor.add(plane.circle("b", .zero, radius: 2))
    #expect(throws: GeofenceError.tooMany(limit: limit)) {
      try monitor.add(plane.circle("c", .zero, radius: 1))
    }
    monitor.remove("1")
    try monitor.add(plane.circle("c", .zero, radius: 1))
  }

  /// A circle of 500 m, and places 223 m and 2.2 km from its center on the other side of a pole or the antimeridian.
  @Test(arguments: [
    ((89.999, 0.0), (89.999, 180.0), (89.981, 180.0)),
    ((-89.999, 90.0), (-89.999, -90.0), (-89.981, -90.0)),
    ((0.0, 179.999), (0.0, -179.999), (0.0, -179.981)),
    ((60.0, -179.999), (60.0, 179.999), (60.0, 179.96)),
    ((90.0, 0.0), (89.998, 77.0), (89.98, 13.0)),
  ])
  func polesAndTheAntimeridianAreNoBoundary(
    center: (Double, Double), near: (Double, Double), far: (Double, Double)
  ) throws {
    let places = [center, near, far].compactMap {
      Coordinate(latitude: $0.0, longitude: $0.1)
    }
    var monitor = GeofenceMonitor()
    try monitor.add(CircularRegion(identifier: "a", center: places[0], radius: 500))
    var found: [GeofenceTransition.Change] = []
    for (index, place) in [1, 1, 2, 2, 1, 1, 0, 0, 2, 2].map({ places[$0] }).enumerated() {
      let time = at(Double(index) * 60)
      found += changes(
        monitor.receive(
          Fix(
            time: time, timestamp: WallClockTime(nanoseconds: time.nanoseconds), place: place,
            horizontalAccuracy: 5)))
    }
    #expect(found == [.determined(.inside), .exit, .enter, .exit])
  }

  @Test func theNearestBoundaryIsThatOfAllCircles() throws {
    var random = SplitMix64(seed: 8)
    var monitor = GeofenceMonitor()
    var regions: [CircularRegion] = []
    for index in 0..<300 {
      let center = SIMD2(random.uniform(-40_000, 40_000), random.uniform(-40_000, 40_000))
      regions.append(
        try plane.circle("\(index)", center, radius: random.uniform(50, 900)))
      try monitor.add(regions[index])
    }
    #expect(monitor.nearestBoundary() == nil)
    var exact = 0
    for index in 0..<400 {
      let fix = plane.fix(Double(index), SIMD2(Double(index) * 30 - 6000, 500))
      _ = monitor.receive(fix)
      let expected = regions.map { abs($0.distanceOutside(fix.place)) }.min() ?? 0
      let boundary = monitor.nearestBoundary()
      let nearest = try #require(boundary)
      #expect(nearest <= expected + 1e-6)
      if abs(nearest - expected) < 1e-6 { exact += 1 }
    }
    #expect(exact > 350)
  }

  /// How 10,000 circles over 100 km by 100 km are looked at.
  @Test(arguments: [("walk", 1.4, 0.0, 4.0), ("drive", 30, 0, 12), ("still", 0, 30, 4)])
  func aFixCostsFewLooks(name: String, speed: Double, jitter: Double, bound: Double) throws {
    var random = SplitMix64(seed: 1)
    var monitor = GeofenceMonitor()
    for index in 0..<10_000 {
      let center = SIMD2(random.uniform(-50_000, 50_000), random.uniform(-50_000, 50_000))
      try monitor.add(plane.circle("\(index)", center, radius: random.uniform(50, 300)))
    }
    var errors = Jitter(seed: 2, deviation: jitter, correlation: 0)
    for second in 0..<3 { _ = monitor.receive(plane.fix(Double(second), .zero)) }
    // Each circle is looked at once for each of the fixes that determine it.
    #expect(monitor.looks <= 21_000)
    let before = monitor.looks
    let count = 1000
    for second in 3..<(3 + count) {
      let point = SIMD2(Double(second) * speed, 0) + errors.next(after: 1)
      _ = monitor.receive(plane.fix(Double(second), point))
    }
    let looks = Double(monitor.looks - before) / Double(count)
    #expect(looks < bound)
  }
}
