import Positioning
import RealModule
import Scanning
import TestSupport

/// Days of one person with a receiver, by seed: home, a bus, work, lunch, a mall, a park, a shop, drives with
/// lights and jams. What the receiver delivers has drift and jitter indoors, outliers, bad fixes and gaps; the
/// stays are labelled.
struct SimulatedDay {
  struct Label: Hashable {
    var name: String
    /// Seconds of the day.
    var arrival: Double
    var departure: Double
    /// Meters east and north of the origin.
    var place: SIMD2<Double>
  }

  private(set) var fixes: [Fix] = []
  private(set) var labels: [Label] = []
  /// What is no stay, though it lasts.
  private(set) var passages: [Label] = []
  let origin: Coordinate

  private var random: SplitMix64
  private let interval: Double
  /// The seconds of the day.
  private var now = 0.0
  private var place = SIMD2<Double>.zero
  private var drift = SIMD2<Double>.zero
  private var nextFix = 0.0
  /// The end of a gap, in seconds of the day.
  private var gap = 0.0

  /// What the receiver is in.
  enum Surroundings {
    case open
    case indoors
    /// A building or a tunnel without signal.
    case none
  }

  init(origin: Coordinate, interval: Double, seed: UInt64) {
    self.origin = origin
    self.interval = interval
    random = SplitMix64(seed: seed)
  }

  /// Makes a whole day.
  init(seed: UInt64, interval: Double = 10) {
    let origins = [(48.2, 16.37), (-16.8, 179.9995), (69.65, 18.95), (0.0002, -78.45)]
    let (latitude, longitude) = origins[Int(seed % 4)]
    self.init(
      origin: Self.coordinate(latitude, longitude), interval: interval, seed: seed)
    live()
  }

  private mutating func live() {
    let home = SIMD2(0.0, 0.0)
    stay("home", minutes: random.uniform(20, 200), .indoors)
    // To the bus stop: a wait that is too short.
    walk(to: home + near(300, 600))
    let start = now
    rest(seconds: random.uniform(180, 245), .open)
    passages.append(Label(name: "bus stop", arrival: start, departure: now, place: place))
    drive(to: near(4000, 9000), tunnel: random.uniform() < 0.3)
    walk(to: place + near(150, 300))
    let work = place
    stay("work", minutes: random.uniform(120, 240), .indoors)
    walk(to: work + near(330, 600))
    stay("lunch", minutes: random.uniform(15, 45), .indoors)
    walk(to: work)
    stay("work", minutes: random.uniform(120, 240), .indoors)
    drive(to: work + near(3000, 8000), tunnel: false)
    mall(minutes: random.uniform(30, 90))
    drive(to: place + near(1500, 5000), tunnel: random.uniform() < 0.3)
    park(minutes: random.uniform(25, 50))
    drive(to: place + near(800, 3000), tunnel: false)
    walk(to: place + near(30, 80))
    stay("shop", minutes: random.uniform(6.5, 16), .indoors)
    walk(to: place + near(30, 80))
    jam(minutes: random.uniform(6, 14))
    drive(to: near(400, 1500), tunnel: false)
    // A garage: no signal until the next stay.
    stay("friend", minutes: random.uniform(25, 70), .none)
    drive(to: home, tunnel: false)
    stay("home", minutes: random.uniform(60, 300), .indoors)
    drive(to: near(9000, 20000), tunnel: false)
  }

  private mutating func near(_ low: Double, _ high: Double) -> SIMD2<Double> {
    let (angle, distance) = (random.uniform(0, 2 * .pi), random.uniform(low, high))
    return distance * SIMD2(Double.cos(angle), Double.sin(angle))
  }

  // MARK: Movements

  mutating func stay(_ name: String, minutes: Double, _ surroundings: Surroundings) {
    let arrival = now
    let center = place
    let end = now + minutes * 60
    while now < end {
      // In some hours nothing is received for up to an hour.
      if surroundings == .indoors, gap < now, random.uniform() < 1 / 7200.0 {
        gap = now + random.uniform(300, 3600)
      }
      // A few meters about the rooms.
      if random.uniform() < 0.01 {
        place = center + SIMD2(random.uniform(-8, 8), random.uniform(-8, 8))
      }
      step(1, surroundings)
    }
    gap = 0
    place = center
    labels.append(Label(name: name, arrival: arrival, departure: now, place: center))
  }

  mutating func rest(seconds: Double, _ surroundings: Surroundings) {
    let end = now + seconds
    while now < end { step(1, surroundings) }
  }

  mutating func walk(
    to goal: SIMD2<Double>, _ surroundings: Surroundings = .open, speed: Double? = nil
  ) {
    let speed = speed ?? random.uniform(1.1, 1.6)
    while Self.length(goal - place) > speed {
      place += speed / Self.length(goal - place) * (goal - place)
      step(1, surroundings)
    }
    place = goal
  }

  /// Drives with a turn on the way, stops at lights, and a tunnel without signal.
  mutating func drive(to goal: SIMD2<Double>, tunnel: Bool) {
    let corner = SIMD2(goal.x, place.y)
    var toLight = random.uniform(200, 900)
    var toTunnel = tunnel ? random.uniform(500, 1200) : .infinity
    let speed = random.uniform(8, 15)
    for target in [corner, goal] {
      while Self.length(target - place) > speed {
        place += speed / Self.length(target - place) * (target - place)
        step(1, toTunnel < 0 && toTunnel > -900 ? .none : .open)
        toLight -= speed
        toTunnel -= speed
        if toLight < 0 {
          toLight = random.uniform(200, 900)
          rest(seconds: random.uniform(10, 90), .open)
        }
      }
      place = target
    }
  }

  /// Creeps, with stops of up to two minutes.
  mutating func jam(minutes: Double) {
    let start = now
    let end = now + minutes * 60
    while now < end {
      rest(seconds: random.uniform(10, 120), .open)
      walk(to: place + SIMD2(random.uniform(40, 160), 0), speed: random.uniform(1.5, 5))
    }
    passages.append(Label(name: "jam", arrival: start, departure: now, place: place))
  }

  mutating func mall(minutes: Double) {
    let (arrival, center) = (now, place)
    let end = now + minutes * 60
    var (sum, seconds) = (SIMD2<Double>.zero, 0.0)
    while now < end {
      walk(
        to: center + SIMD2(random.uniform(-100, 100), random.uniform(-50, 50)), .indoors,
        speed: random.uniform(0.5, 1.1))
      let start = now
      rest(seconds: min(random.exponential(mean: 240), 1200), .indoors)
      sum += (now - start) * place
      seconds += now - start
    }
    labels.append(
      Label(name: "mall", arrival: arrival, departure: now, place: (1 / seconds) * sum))
  }

  /// Walks slowly through 600 m of a park, with short rests.
  mutating func park(minutes: Double) {
    let start = now
    let end = now + minutes * 60
    var direction = random.uniform(0, 2 * .pi)
    let center = place
    while now < end {
      direction += random.uniform(-0.8, 0.8)
      var goal = place + 120 * SIMD2(Double.cos(direction), Double.sin(direction))
      if Self.length(goal - center) > 400 {
        direction += .pi / 2
        goal = center + 0.9 * (place - center)
      }
      walk(to: goal, speed: random.uniform(0.7, 1.2))
      if random.uniform() < 0.15 { rest(seconds: random.uniform(20, 100), .open) }
    }
    passages.append(Label(name: "park", arrival: start, departure: now, place: place))
  }

  // MARK: The receiver

  private mutating func step(_ seconds: Double, _ surroundings: Surroundings) {
    now += seconds
    // Errors that last: 20 min indoors with 25 m, one minute outside with 3 m.
    let (time, size) = surroundings == .open ? (60.0, 3.0) : (1200.0, 25.0)
    let kept = max(0, 1 - seconds / time)
    drift =
      kept * drift
      + (size * (1 - kept * kept).squareRoot()) * SIMD2(random.normal(), random.normal())
    guard now >= nextFix, surroundings != .none, now >= gap else { return }
    nextFix = now + interval * random.uniform(0.9, 1.1)
    var (error, accuracy) = (drift, random.uniform(4, 12))
    if surroundings == .indoors {
      let jitter = random.uniform(8, 35)
      error += jitter * SIMD2(random.normal(), random.normal())
      accuracy = random.uniform(20, 65)
    }
    let luck = random.uniform()
    if luck < 0.004 {
      // An outlier that claims to be good.
      error = near(200, 1500)
    } else if luck < 0.015 {
      error = near(300, 2500)
      accuracy = random.uniform(1000, 2000)
    }
    fixes.append(
      Self.fix(at: now, place: place + error, accuracy: accuracy, from: origin))
  }

  /// Returns a fix at a place in meters east and north of an origin.
  static func fix(
    at seconds: Double, place: SIMD2<Double>, accuracy: Double, from origin: Coordinate
  ) -> Fix {
    let meters = 6_371_008.8 * .pi / 180
    let nanoseconds = Int64(seconds * 1e9)
    return Fix(
      time: MonotonicTime(nanoseconds: nanoseconds),
      timestamp: WallClockTime(nanoseconds: nanoseconds),
      place: coordinate(
        origin.latitude + place.y / meters,
        origin.longitude + place.x / (meters * Double.cos(origin.latitude * .pi / 180))),
      horizontalAccuracy: accuracy)
  }

  /// Returns where a place lies, in meters east and north of an origin.
  static func meters(_ place: Coordinate, from origin: Coordinate) -> SIMD2<Double> {
    let meters = 6_371_008.8 * .pi / 180
    let east = (place.longitude - origin.longitude).remainder(dividingBy: 360)
    return SIMD2(
      east * meters * Double.cos(origin.latitude * .pi / 180),
      (place.latitude - origin.latitude) * meters)
  }

  static func length(_ vector: SIMD2<Double>) -> Double { (vector * vector).sum().squareRoot() }

  static func coordinate(_ latitude: Double, _ longitude: Double) -> Coordinate {
    guard let place = Coordinate(latitude: latitude, longitude: longitude) else {
      preconditionFailure("\(latitude), \(longitude) is no place")
    }
    return place
  }
}
