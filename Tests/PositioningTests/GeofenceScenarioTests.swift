import RealModule
import Scanning
import TestSupport
import Testing

@testable import Positioning

/// Paths by seed whose truth is known; Benchmarks/Studies/geofences.py has more of them, with an
/// independent geodesy.
@Suite struct GeofenceScenarioTests {
  private let plane = Plane()

  /// Runs a path and returns what is reported for each circle.
  private func run(
    _ path: [SIMD2<Double>], jitter: Jitter, accuracy: Double, every: Int = 1,
    circles: [(center: SIMD2<Double>, radius: Double)]
  ) throws -> [[GeofenceTransition]] {
    var monitor = GeofenceMonitor()
    var jitter = jitter
    for (index, circle) in circles.enumerated() {
      try monitor.add(plane.circle("\(index)", circle.center, radius: circle.radius))
    }
    var found = Array(repeating: [GeofenceTransition](), count: circles.count)
    for second in stride(from: 0, to: path.count, by: every) {
      let point = path[second] + jitter.next(after: Double(every))
      for transition in monitor.receive(plane.fix(Double(second), point, accuracy: accuracy)) {
        found[Int(transition.region) ?? 0].append(transition)
      }
    }
    return found
  }

  struct Receiver: CustomTestStringConvertible {
    var accuracy: Double
    var deviation: Double
    var correlation: Double
    var every = 1
    var testDescription: String {
      "states \(accuracy) m, jitters by \(deviation) m in \(correlation) s, a fix in \(every) s"
    }
  }

  /// Two hours at the edges of circles, some of them exactly at the boundary.
  @Test(
    arguments: [
      Receiver(accuracy: 45, deviation: 30, correlation: 0),
      Receiver(accuracy: 45, deviation: 30, correlation: 60),
      Receiver(accuracy: 5, deviation: 30, correlation: 0),
      Receiver(accuracy: 5, deviation: 30, correlation: 60),
      Receiver(accuracy: 5, deviation: 30, correlation: 60, every: 10),
      Receiver(accuracy: 5, deviation: 3.3, correlation: 60),
    ], [1, 2, 3] as [UInt64])
  func aStayAtAnEdgeCrossesNothing(receiver: Receiver, seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let circles: [(center: SIMD2<Double>, radius: Double)] = [50, 100, 200, 500].flatMap { radius in
      [0, random.uniform(-20, 20)].map { (SIMD2(radius + $0, 0), radius) }
    }
    let found = try run(
      Array(repeating: .zero, count: 7200),
      jitter: Jitter(
        seed: seed, deviation: receiver.deviation, correlation: receiver.correlation),
      accuracy: receiver.accuracy, every: receiver.every, circles: circles)
    for transitions in found { #expect(!transitions.contains { $0.change.isCrossing }) }
  }

  /// A receiver comes by, and every circle that it crosses by enough is entered and left.
  @Test(
    arguments: [
      (speed: 1.4, every: 1, radius: 60.0), (1.4, 1, 150), (1.4, 10, 150), (12, 1, 100),
      (50, 1, 100),
      (25, 60, 3000),
    ], [1, 2, 3] as [UInt64])
  func eachPassIsReported(pass: (speed: Double, every: Int, radius: Double), seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let spacing = 2 * pass.radius + 500 + 4 * pass.speed * Double(pass.every)
    let circles = (1...8).map { index in
      (
        center: SIMD2(spacing * Double(index), random.uniform(-0.5, 0.5) * pass.radius),
        radius: pass.radius
      )
    }
    let path = (0..<Int(9 * spacing / pass.speed)).map { SIMD2(Double($0) * pass.speed, 0) }
    let found = try run(
      path, jitter: Jitter(seed: seed, deviation: 2.3, correlation: 10), accuracy: 5,
      every: pass.every, circles: circles)
    for (circle, transitions) in zip(circles, found) {
      #expect(transitions.map(\.change) == [.determined(.outside), .enter, .exit])
      guard transitions.count == 3 else { continue }
      let half = (circle.radius * circle.radius - circle.center.y * circle.center.y).squareRoot()
      for (transition, way) in zip(transitions[1...], [-half, half]) {
        let delay = transition.time.seconds(since: at((circle.center.x + way) / pass.speed))
        #expect(delay > -1)
        #expect(delay < max(75, Double(3 * pass.every)))
      }
    }
  }

  /// The sky is lost for a minute, and the first fix after it is 500 m off.
  @Test(arguments: [1, 2, 3] as [UInt64])
  func aTunnelCrossesWhatLiesBehindIt(seed: UInt64) throws {
    var jitter = Jitter(seed: seed, deviation: 2.3, correlation: 10)
    var monitor = GeofenceMonitor()
    let regions = [
      // The way into the first leads through the tunnel; the second is where the outlier lies.
      (center: SIMD2(4000.0, 0), radius: 600.0), (center: SIMD2(3600.0, 700), radius: 300),
    ]
    for (index, circle) in regions.enumerated() {
      try monitor.add(plane.circle("\(index)", circle.center, radius: circle.radius))
    }
    var transitions: [GeofenceTransition] = []
    for second in 0..<300 where !(120..<180).contains(second) {
      let outlier: SIMD2<Double> = second == 180 ? SIMD2(0, 500) : .zero
      let point = SIMD2(Double(second) * 20, 0) + jitter.next(after: 1) + outlier
      transitions += monitor.receive(plane.fix(Double(second), point))
    }
    #expect(transitions.filter { $0.region == "1" }.map(\.change) == [.determined(.outside)])
    let crossings = transitions.filter { $0.region == "0" }
    #expect(crossings.map(\.change) == [.determined(.outside), .enter, .exit])
    #expect(crossings.dropFirst().first.map { $0.time <= at(190) } == true)
  }
}

/// Arrivals at the edges of circles, where the receiver loses the sky, and what the likelihoods say of jitter alone.
@Suite struct GeofenceJitterTests {
  private let plane = Plane()

  /// Walks or drives to a house, stays there with errors of 30 m that the receiver does not state, and goes on.
  /// Nothing is crossed on the wrong side, and what the way crosses by more than 100 m is reported.
  @Test(
    arguments: [
      (speed: 1.4, accuracy: 5.0, correlation: 60.0, every: 1), (1.4, 10, 300, 1),
      (1.4, 5, 20, 10), (10, 5, 60, 1),
    ], [21, 24] as [UInt64])
  func anArrivalAtAnEdgeCrossesNothingFalsely(
    visit: (speed: Double, accuracy: Double, correlation: Double, every: Int), seed: UInt64
  ) throws {
    var random = SplitMix64(seed: seed)
    var monitor = GeofenceMonitor()
    var circles: [(center: SIMD2<Double>, radius: Double)] = []
    for radius in [50.0, 100, 200, 400] {
      for offset in [-20, random.uniform(-20, 20), 20] {
        let angle = random.uniform(0, 2 * .pi)
        let center = (radius + offset) * SIMD2(Double.cos(angle), Double.sin(angle))
        try monitor.add(plane.circle("\(circles.count)", center, radius: radius))
        circles.append((center, radius))
      }
    }
    let way = 900 / visit.speed
    let end = 2 * way + 3600
    var error = SIMD2<Double>.zero
    var sides = Array(repeating: Set<Bool>(), count: circles.count)
    let kept = Double.exp(-1 / visit.correlation)
    for second in 0..<Int(end) {
      let time = Double(second)
      let (here, isStill): (SIMD2<Double>, Bool) =
        if time < way {
          (SIMD2(time * visit.speed - 900, 0), false)
        } else if time < way + 3600 { (.zero, true) } else {
          (SIMD2(0, (time - way - 3600) * visit.speed), false)
        }
      let fresh = SIMD2(random.normal(), random.normal())
      error =
        isStill ? kept * error + 30 * (1 - kept * kept).squareRoot() * fresh : 0.9 * error
      let noise = visit.accuracy / 2 * SIMD2(random.normal(), random.normal())
      for (index, circle) in circles.enumerated() {
        sides[index].insert(length(here - circle.center) < circle.radius)
      }
      guard second % visit.every == 0 else { continue }
      let point = here + (isStill ? error : error + noise)
      for transition in monitor.receive(plane.fix(time, point, accuracy: visit.accuracy)) {
        let index = Int(transition.region) ?? 0
        if transition.change.isCrossing {
          #expect(sides[index].contains(transition.change.state == .inside), "\(transition)")
        }
        sides[index] = []
      }
    }
    for (index, circle) in circles.enumerated() where circle.radius == 400 {
      // All end 500 m or more outside of what they went through, or never left it.
      let last = SIMD2(0.0, 900)
      let state = monitor.status(of: "\(index)")?.state
      #expect(state == (length(last - circle.center) < circle.radius ? .inside : .outside))
    }
  }

  @Test(arguments: [1.0, 5, 15, 40, 90, 200, 500, 1200], [1.0, 10, 60])
  func jitterIsSeldomTakenForAPath(correlation: Double, interval: Double) {
    var jitter = Jitter(
      seed: UInt64(correlation * interval), deviation: 30, correlation: correlation)
    var test = JitterTest()
    var sum = SIMD8<Double>.zero
    var paths = 0
    for index in 0..<1500 {
      let ratios = test.add(
        plane.place(jitter.next(after: interval)), at: at(Double(index) * interval), accuracy: 5)
      let isMoving = test.speed >= 0.5
      sum = pointwiseMax(
        sum + (isMoving ? ratios : pointwiseMin(ratios, .zero)), SIMD8(repeating: -4))
      if sum.min() >= 10 {
        paths += 1
        sum = .zero
      }
    }
    #expect(paths <= 1)
  }

  @Test(arguments: [(1.1, 1.0, 60), (1.4, 1, 50), (1.4, 10, 110), (10, 1, 12), (50, 1, 4)])
  func aPathIsRecognized(speed: Double, interval: Double, seconds: Int) {
    var jitter = Jitter(seed: UInt64(speed * 10), deviation: 3.3, correlation: 10)
    var test = JitterTest()
    var sum = SIMD8<Double>.zero
    for index in 0..<(120 + seconds / Int(interval)) {
      let time = Double(index) * interval
      let place = plane.place(SIMD2(time * speed, 0) + jitter.next(after: interval))
      let ratios = test.add(place, at: at(time), accuracy: 5)
      if index >= 120 { sum += ratios }
    }
    #expect(sum.min() >= 10)
    #expect(abs(test.speed - speed) < max(0.6, speed / 10))
  }

  @Test(arguments: 0..<8)
  func theSpeedIsTheSameInEveryDirection(direction: Int) {
    let angle = Double(direction) * .pi / 4
    var test = JitterTest()
    for second in 0..<100 {
      let point = 20 * Double(second) * SIMD2(Double.cos(angle), Double.sin(angle))
      _ = test.add(plane.place(point), at: at(Double(second)), accuracy: 5)
    }
    #expect(abs(test.speed - 20) < 0.04)
  }

  private func length(_ vector: SIMD2<Double>) -> Double { (vector * vector).sum().squareRoot() }
}
