internal import Advertising
internal import Ranging
internal import RealModule
internal import Scanning
internal import TestSupport

/// A beacon before two adapters: they stand on the line `y` = 0, the left one at negative `x`.
struct Pair {
  /// The meters between the adapters, and from their line to the beacon.
  var apart: Double
  var ahead: Double
  /// The beacon's place along the line, in meters from the middle; nothing if it walks from -5 m to 5 m and back, at 1 m/s.
  var lateral: Double?
  /// Packets a second, before loss.
  var rate = 10.0
  /// What a body that stands before the right adapter takes, in dB.
  var body = 0.0
  /// How much stronger than true the left adapter receives, in dB, which nobody has subtracted.
  var offset = 0.0

  /// One adapter's share in the room.
  private struct Receiver {
    var x: Double
    var field: Field
    var channels: [Double]
    var passers: Passers

    init(_ family: Family, x: Double, _ noise: inout SplitMix64) {
      self.x = x
      field = Field(family, &noise)
      channels = (0..<3).map { _ in noise.normal() }
      passers = Passers(&noise)
    }
  }

  /// Where the beacon is at a moment.
  func place(at seconds: Double) -> Double {
    lateral ?? -5 + 10 * Family.triangle(seconds / 10)
  }

  /// Calls a closure with the side once a second, after the first 10 s of a minute.
  func run(seed: UInt64, _ report: (_ seconds: Double, _ side: Side?) -> Void) {
    let family = Family(name: "", motion: .still, rate: rate, seconds: 60)
    var noise = SplitMix64(seed: seed &* 0x2545_F491_4F6C_DD1D)
    var receivers = [-apart / 2, apart / 2].map { Receiver(family, x: $0, &noise) }
    // Shadowing is alike at places that are near one another, as along a way.
    let alike = Double.exp(-apart / 2)
    let alone = (1 - alike * alike).squareRoot()
    var shadows = [family.shadowing * noise.normal(), 0]
    shadows[1] = alike * shadows[0] + alone * family.shadowing * noise.normal()
    var finder = SideFinder(Sides(left: .number(0), right: .number(1)), maximumBeacons: 8)
    let beacon = BeaconIdentity(uuid: ProximityUUID(high: 0, low: 1), major: 1, minor: 1)
    var before = place(at: 0)
    for index in 0..<600 {
      let seconds = Double(index) / 10
      let time = MonotonicTime(nanoseconds: Int64(index) * 100_000_000)
      let here = place(at: seconds)
      let keep = Double.exp(-(here - before).magnitude / 2)
      let fresh = (1 - keep * keep).squareRoot() * family.shadowing
      let first = noise.normal()
      let second = alike * first + alone * noise.normal()
      shadows = [keep * shadows[0] + fresh * first, keep * shadows[1] + fresh * second]
      before = here
      for side in 0..<2 {
        receivers[side].field.advance(to: seconds, &noise)
        receivers[side].passers.advance(to: seconds, &noise)
        let channel = Int(noise.uniform() * 3)
        let isLost = noise.uniform() < family.loss
        let white = noise.normal()
        guard index % Int((10 / rate).rounded()) == 0, !isLost else { continue }
        let receiver = receivers[side]
        let x = here - receiver.x
        var rssi = -59 - 20 * Double.log10(Family.length(x, ahead)) + shadows[side] + white
        rssi += receiver.field.gain(x: x, y: ahead, channel: channel) + receiver.channels[channel]
        rssi -= receiver.passers.depth(at: seconds) - (side == 0 ? offset : -body)
        finder.receive(
          Sighting(
            time: time, wallTime: time.wallClockTime(.zero), beacon: beacon, measuredPower: -59,
            rssi: Int8(min(max(rssi.rounded(), -110), 20)), address: BluetoothAddress(rawValue: 1),
            addressType: .random, adapter: UInt16(side)))
      }
      if index >= 100, index % 10 == 0 { report(seconds, finder.side(of: beacon, at: time)) }
    }
  }

  /// Returns the shares of reports with the beacon's side, with none, and with the other side, as text in percent; and
  /// how often the side changes, per minute.
  ///
  /// In the middle, none is right and both sides are wrong. A beacon that walks counts beyond half a meter from it.
  func measure(seed: UInt64, runs: Int) -> (shares: String, changes: Double) {
    var (right, none, wrong, changes, reports) = (0.0, 0.0, 0.0, 0.0, 0.0)
    for run in 0..<runs {
      var last: Side??
      self.run(seed: seed + UInt64(run)) { seconds, side in
        if let last, last != side { changes += 1 }
        last = .some(side)
        reports += 1
        let place = place(at: seconds)
        if lateral == nil, place.magnitude < 0.5 { return }
        switch side {
        case .left where place < 0, .right where place > 0: right += 1
        case .left, .right: wrong += 1
        case .between, nil: none += 1
        }
      }
    }
    let all = (right + none + wrong) / 100
    let shares = [right, none, wrong].map { fixed($0 / all, 0) }.joined(separator: " / ")
    return (shares, changes / reports * 60)
  }
}

func measureSides(seed: UInt64, runs: Int) {
  print(
    "| Apart | Before them | In the middle | Before one | 1 m beside it | 3 m beside it"
      + " | Walks past | Changes/min, still |")
  print("| - | - | - | - | - | - | - | - |")
  for apart in [0.5, 1, 2, 4] {
    for ahead in [1.0, 2, 4] {
      let cells = [0, apart / 2, apart / 2 + 1, apart / 2 + 3, nil].map {
        Pair(apart: apart, ahead: ahead, lateral: $0).measure(seed: seed, runs: runs)
      }
      let changes = cells.dropLast().reduce(0) { $0 + $1.changes } / 4
      print(
        "| \(fixed(apart, 1)) m | \(fixed(ahead, 0)) m | "
          + cells.map(\.shares).joined(separator: " | ") + " | \(fixed(changes, 2)) |")
    }
  }
  print("")
  let pairs: [(String, Pair)] = [
    ("as above", Pair(apart: 2, ahead: 2, lateral: 2)),
    ("1 packet a second", Pair(apart: 2, ahead: 2, lateral: 2, rate: 1)),
    ("a body before the nearer adapter takes 8 dB", Pair(apart: 2, ahead: 2, lateral: 2, body: 8)),
    ("the farther adapter receives 5 dB too much", Pair(apart: 2, ahead: 2, lateral: 2, offset: 5)),
  ]
  for (name, pair) in pairs {
    print("| \(name) | \(pair.measure(seed: seed, runs: runs).shares) |")
  }
}
