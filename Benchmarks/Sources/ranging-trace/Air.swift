internal import RealModule
internal import TestSupport

/// A beacon that moves in a room, and what a receiver at the origin gets of it.
struct Family {
  enum Motion: Hashable { case still, turn, walk, pass, stopAndGo, errands }

  var name: String
  var motion: Motion
  /// Packets a second, before loss, and the seconds of a run.
  var rate: Double
  var seconds: Double
  /// Meters a second.
  var speed = 1.0
  var exponent = 2.0
  /// Rice's factor in dB: the power of the direct wave over that of the others.
  var rice = 5.0
  /// How many of the ten other waves change their phase while people move.
  var movingWaves = 3
  /// The deviation of log-normal shadowing along the way, in dB, with a decorrelation distance of 2 m.
  var shadowing = 3.0
  var loss = 0.15
  /// The side of the square in which somebody runs errands, in meters. The receiver is anywhere in it.
  var side = 12.0
}

/// One packet or one moment of the truth.
struct Moment {
  var seconds: Double
  var distance: Double
  /// The signal strength in dBm; nothing if the packet was lost.
  var rssi: Float?
}

/// The sum of a direct and ten other plane waves on each of three advertising channels (R. H. Clarke, "A
/// statistical theory of mobile-radio reception", Bell System Technical Journal 47, 1968): it fades over half a
/// wavelength as the beacon moves, and slowly while people do.
struct Field {
  static let channels = [2.402e9, 2.426e9, 2.480e9].map { 2 * Double.pi * $0 / 299_792_458 }
  static let waves = 10
  var directions: [Double] = []
  var amplitudes: [Double] = []
  var phases: [[Double]] = []
  /// Each wave's own phase and how fast it changes.
  var drifts = [Double](repeating: 0, count: waves)
  var speeds = [Double](repeating: 0, count: waves)
  var rates = [Double](repeating: 0, count: waves)
  var isActive = true
  var activeUntil = 0.0
  let direct: Double
  let scattered: Double

  init(_ family: Family, _ noise: inout SplitMix64) {
    let rice = Double.pow(10, family.rice / 10)
    direct = (rice / (rice + 1)).squareRoot()
    scattered = (1 / (rice + 1)).squareRoot()
    var power = 0.0
    for wave in 0..<Self.waves {
      directions.append(noise.uniform(0, 2 * .pi))
      let amplitude = (-2 * Double.log(1 - noise.uniform())).squareRoot()
      amplitudes.append(amplitude)
      power += amplitude * amplitude
      if wave < family.movingWaves { rates[wave] = noise.uniform(0.6, 4) }
    }
    amplitudes = amplitudes.map { $0 / power.squareRoot() }
    for _ in 0...Self.channels.count {
      phases.append((0..<Self.waves).map { _ in noise.uniform(0, 2 * .pi) })
    }
  }

  /// Lets people move for a tenth of a second; they do in three spells of five seconds out of five.
  mutating func advance(to seconds: Double, _ noise: inout SplitMix64) {
    if seconds >= activeUntil {
      isActive = noise.uniform() < 0.6
      activeUntil += 5
    }
    for wave in speeds.indices where rates[wave] > 0 {
      speeds[wave] = 0.905 * speeds[wave] + 0.426 * noise.normal()
      if isActive { drifts[wave] += 0.1 * rates[wave] * speeds[wave] }
    }
  }

  /// The gain at a place, in dB.
  func gain(x: Double, y: Double, channel: Int) -> Double {
    let number = Self.channels[channel]
    var real = direct * Double.cos(number * x + phases[3][channel])
    var imaginary = direct * Double.sin(number * x + phases[3][channel])
    for wave in 0..<Self.waves {
      let path = x * Double.cos(directions[wave]) + y * Double.sin(directions[wave])
      let phase = phases[channel][wave] + number * path + drifts[wave]
      real += scattered * amplitudes[wave] * Double.cos(phase)
      imaginary += scattered * amplitudes[wave] * Double.sin(phase)
    }
    return 10 * Double.log10(real * real + imaginary * imaginary + 1e-6)
  }
}

/// People who pass between beacon and receiver: for 1 to 4 s, every 40 s. They take 5 to 10 dB.
struct Passers {
  private var start: Double
  private var (greatest, length) = (0.0, 1.0)

  init(_ noise: inout SplitMix64) { start = noise.exponential(mean: 40) }

  mutating func advance(to seconds: Double, _ noise: inout SplitMix64) {
    guard seconds > start + length else { return }
    (start, length) = (seconds + noise.exponential(mean: 40), noise.uniform(1, 4))
    greatest = noise.uniform(5, 10)
  }

  /// What they take at a moment, in dB.
  func depth(at seconds: Double) -> Double {
    guard seconds >= start else { return 0 }
    let share = Double.sin(.pi * (seconds - start) / length)
    return greatest * share * share
  }
}

extension Family {
  /// A run with a seed of its own.
  func run(seed: UInt64) -> [Moment] {
    var noise = SplitMix64(seed: seed &* 0x2545_F491_4F6C_DD1D)
    var field = Field(self, &noise)
    let channelOffsets = (0..<3).map { _ in noise.normal() }
    let distance = 0.35 * Double.pow(12 / 0.35, noise.uniform())
    let start = 2 * noise.uniform()
    var (place, goal, waitUntil) = (noise.uniform(1, 10), 0.0, noise.uniform(5, 15))
    var isGoing = false
    var (turned, turnAt) = (0.0, 0.0)
    var shadow = shadowing * noise.normal()
    var passers = Passers(&noise)
    var dropout = (start: noise.exponential(mean: 60), end: 0.0)
    var moments: [Moment] = []
    var (x, y) = (0.0, 0.1)
    var (receiver, errand, at) = ((0.0, 0.0), (0.0, 0.0), (0.5 * side, 0.5 * side))
    if motion == .errands {
      receiver = (noise.uniform(0, side), noise.uniform(0, side))
      errand = (noise.uniform(0, side), noise.uniform(0, side))
    }
    let step = min(0.1, 1 / rate)
    let stepsPerPacket = Int((1 / rate / step).rounded())
    for index in 0..<Int(seconds / step) {
      let time = Double(index) * step
      let before = (x, y)
      switch motion {
      case .still, .turn: (x, y) = (distance, 0)
      case .walk: x = 1 + 9 * Self.triangle(start + time * speed / 9)
      case .pass: (x, y) = (-8 + 16 * Self.triangle(start + time * speed / 16), 0.7)
      case .stopAndGo:
        if isGoing, (goal - place).magnitude <= speed * step {
          (place, isGoing, waitUntil) = (goal, false, time + noise.uniform(8, 25))
        } else if isGoing {
          place += goal > place ? speed * step : -speed * step
        } else if time > waitUntil {
          (goal, isGoing) = (noise.uniform(0.5, 10), true)
        }
        x = place
      case .errands:
        let left = Self.length(errand.0 - at.0, errand.1 - at.1)
        if time < waitUntil {
        } else if left <= speed * step {
          (at, errand) = (errand, (noise.uniform(0, side), noise.uniform(0, side)))
          if noise.uniform() < 0.3 { waitUntil = time + noise.uniform(1, 8) }
        } else {
          at.0 += (errand.0 - at.0) / left * speed * step
          at.1 += (errand.1 - at.1) / left * speed * step
        }
        // Receivers hang 1 m above the beacon.
        let across = Self.length(at.0 - receiver.0, at.1 - receiver.1)
        (x, y) = (across, 1)
      }
      if index % max(1, Int((0.1 / step).rounded())) == 0 { field.advance(to: time, &noise) }
      let away = Self.length(x, y)
      var moved = 0.0
      if index > 0 {
        moved = Self.length(x - before.0, y - before.1)
        let keep = Double.exp(-moved / 2)
        shadow = keep * shadow + (1 - keep * keep).squareRoot() * shadowing * noise.normal()
      }
      // A body is behind or in front on a way, and anywhere when it turns.
      if motion == .turn, time >= turnAt {
        (turned, turnAt) = (noise.uniform(-8, 0), time + noise.uniform(10, 30))
      } else if moved > 0 {
        turned = away > Self.length(before.0, before.1) ? -1.5 : 1.5
      }
      passers.advance(to: time, &noise)
      if time > dropout.end, time > dropout.start {
        dropout = (time + noise.exponential(mean: 60), time + noise.uniform(2, 8))
      }
      guard index % stepsPerPacket == 0 else { continue }
      let channel = Int(noise.uniform() * 3)
      var rssi = -59 - 10 * exponent * Double.log10(away) + shadow + turned
      rssi += field.gain(x: x, y: y, channel: channel) + channelOffsets[channel] + noise.normal()
      rssi -= passers.depth(at: time)
      let isLost = noise.uniform() < loss || time < dropout.end
      moments.append(
        Moment(
          seconds: time, distance: away,
          rssi: isLost ? nil : Float(min(max(rssi.rounded(), -110), 20))))
    }
    return moments
  }

  static func triangle(_ phase: Double) -> Double {
    let rest = phase.truncatingRemainder(dividingBy: 2)
    return rest < 1 ? rest : 2 - rest
  }

  static func length(_ x: Double, _ y: Double) -> Double { (x * x + y * y).squareRoot() }
}
