internal import RealModule

/// The weights of one beacon while its second is computed. All beacons of a thread share one.
package struct Workspace {
  typealias Lanes = SiteGrid.Lanes

  struct Residual {
    var offsets: [Lanes] = []
    var offsetVariances: [Lanes] = []
    var factors: [Lanes] = []
    var factorVariances: [Lanes] = []
  }

  /// The probability of lying in each cell, and of being carried through it.
  var still: [Float]
  var moving: [Float]
  var outside: Float = 0
  var flows: [Float]
  /// The logarithms of the likelihoods.
  var lying: [Lanes]
  var carried: [Lanes]
  var outsideLogarithm: Float = 0
  var residual: Residual?

  init(_ grid: SiteGrid) {
    still = Array(repeating: 0, count: grid.count)
    moving = still
    flows = still
    lying = Array(repeating: Lanes(), count: grid.width)
    carried = lying
  }

  /// Sets the logarithms to zero, of the likelihood one.
  mutating func clearLogarithms() {
    for index in lying.indices {
      lying[index] = Lanes()
      carried[index] = Lanes()
    }
  }

  /// Adds the logarithm of a probability that depends on the signal strength, by the whole dB. Where
  /// earlier seconds say what it is, the cells differ less.
  mutating func add(
    _ chances: [Float], _ power: Float, _ factor: Float, _ losses: ArraySlice<Lanes>,
    _ shadow: BeaconFilter.Shadow, weight: Float
  ) {
    func add(_ memory: BeaconFilter.Memory, to logarithms: inout [Lanes]) {
      let top = Lanes(repeating: Float(chances.count - 1))
      // The index is rounded.
      let first = power + memory.level - SiteModel.lowestLevel + 0.5
      let scale = factor * (1 - memory.share)
      var vector = 0
      for loss in losses {
        var index = first - scale * loss
        // NaN counts as the lowest.
        index.replace(with: top, where: index .> top)
        index.replace(with: Lanes(), where: .!(index .>= Lanes()))
        var logarithm = Lanes()
        for lane in 0..<8 { logarithm[lane] = chances[Int(index[lane])] }
        logarithms[vector] += logarithm * weight
        vector += 1
      }
    }
    add(shadow.lying, to: &lying)
    add(shadow.carried, to: &carried)
  }

  /// Mixes the likelihoods of a second without a reception with that of a beacon that does not
  /// advertise, which is one.
  mutating func mix(_ silence: Float) {
    func mixed(_ logarithms: Lanes) -> Lanes {
      var mixed = logarithms
      for lane in 0..<8 {
        mixed[lane] = Float.log(silence + (1 - silence) * Float.exp(logarithms[lane]))
      }
      return mixed
    }
    for vector in lying.indices {
      lying[vector] = mixed(lying[vector])
      carried[vector] = mixed(carried[vector])
    }
  }

  /// The mean and the variance of a number of which each cell has a mean and a variance, if the beacon
  /// lies.
  func moments(_ means: [Lanes], _ variances: [Lanes]) -> (mean: Float, variance: Float) {
    var total: Float = 0
    var sum: Float = 0
    var squares: Float = 0
    for cell in still.indices where still[cell] > 0 {
      let mean = means[cell / 8][cell % 8]
      total += still[cell]
      sum += still[cell] * mean
      squares += still[cell] * (mean * mean + variances[cell / 8][cell % 8])
    }
    let mean = sum / total
    return (mean, squares / total - mean * mean)
  }

  /// Multiplies the weights by the likelihoods, and makes their sum one.
  mutating func apply() {
    var highest = outside > 0 ? outsideLogarithm : -.infinity
    for cell in still.indices {
      if still[cell] > 0 { highest = max(highest, lying[cell / 8][cell % 8]) }
      if moving[cell] > 0 { highest = max(highest, carried[cell / 8][cell % 8]) }
    }
    guard highest.isFinite else { return }
    func scaled(_ weight: Float, _ logarithm: Float) -> Float {
      let below = logarithm - highest
      return weight <= 0 || below < -80 ? 0 : weight * Float.exp(below)
    }
    var sum: Float = 0
    for cell in still.indices {
      still[cell] = scaled(still[cell], lying[cell / 8][cell % 8])
      moving[cell] = scaled(moving[cell], carried[cell / 8][cell % 8])
      sum += still[cell] + moving[cell]
    }
    outside = scaled(outside, outsideLogarithm)
    sum += outside
    guard sum > 0 else { return }
    for cell in still.indices {
      still[cell] /= sum
      moving[cell] /= sum
    }
    outside /= sum
  }

  /// The weights that are not nearly zero; see ``BeaconFilter/weights``. What a room loses is added
  /// to its most probable cell.
  func packed(_ grid: SiteGrid) -> [UInt32] {
    var packed: [UInt32] = []
    func pack(_ index: Int, _ weight: Float) {
      guard weight > Self.least else { return }
      let code = (1 - Float.log(weight) / Float.log(Self.least)) * 65_535
      packed.append(UInt32(index) << 16 | UInt32(min(65_535, max(1, code.rounded()))))
    }
    func pack(_ weights: [Float], from start: Int) {
      var lost = Array(repeating: Float(0), count: grid.roomCount)
      var best = Array(repeating: -1, count: grid.roomCount)
      for cell in weights.indices {
        let room = grid.rooms[cell]
        if weights[cell] <= Self.small { lost[room] += weights[cell] }
        if best[room] < 0 || weights[cell] > weights[best[room]] { best[room] = cell }
      }
      for cell in weights.indices {
        let room = grid.rooms[cell]
        if cell == best[room] {
          let own = weights[cell] > Self.small ? weights[cell] : 0
          pack(start + cell, own + lost[room])
        } else if weights[cell] > Self.small {
          pack(start + cell, weights[cell])
        }
      }
    }
    pack(still, from: 0)
    pack(moving, from: still.count)
    pack(still.count * 2, outside)
    return packed
  }

  /// The least weight that is kept, of a room, and of a cell that is not its room's most probable.
  private static let least: Float = 1e-12
  private static let small: Float = 1e-6

  mutating func unpack(_ packed: [UInt32]) {
    for cell in still.indices {
      still[cell] = 0
      moving[cell] = 0
    }
    outside = 0
    var sum: Float = 0
    func weight(_ entry: UInt32) -> Float {
      Float.exp((1 - Float(entry & 0xFFFF) / 65_535) * Float.log(Self.least))
    }
    for entry in packed { sum += weight(entry) }
    guard sum > 0 else { return }
    for entry in packed {
      let index = Int(entry >> 16)
      let weight = weight(entry) / sum
      if index < still.count {
        still[index] = weight
      } else if index < still.count * 2 {
        moving[index - still.count] = weight
      } else if index == still.count * 2 {
        outside = weight
      }
    }
  }
}
