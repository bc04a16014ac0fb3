internal import RealModule

/// The weights of one beacon while its second is computed. All beacons of a thread share one.
package struct Workspace {
  typealias Lanes = SiteGrid.Lanes

  struct Residual {
    var means: [Lanes]
    var variance: Float
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

  /// Adds the logarithm of a probability that depends on the signal strength, by the whole dB.
  mutating func add(
    _ chances: [Float], power: Float, _ losses: ArraySlice<Lanes>, weight: Float
  ) {
    let top = Float(chances.count - 1)
    let first = power - SiteModel.lowestLevel
    var vector = 0
    for loss in losses {
      let index = (first - loss).clamped(lowerBound: Lanes(), upperBound: Lanes(repeating: top))
      var logarithm = Lanes()
      for lane in 0..<8 { logarithm[lane] = chances[Int(index[lane])] }
      lying[vector] += logarithm * weight
      carried[vector] += logarithm * weight
      vector += 1
    }
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
      return weight <= 0 || below < -25 ? 0 : weight * Float.exp(below)
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

  /// The weights that are not nearly zero; see ``BeaconFilter/weights``.
  func packed() -> [UInt32] {
    var sum = outside
    for cell in still.indices { sum += still[cell] + moving[cell] }
    guard sum > 0 else { return [] }
    let scale = 65_535 / sum
    var packed: [UInt32] = []
    func pack(_ index: Int, _ weight: Float) {
      let share = UInt32((weight * scale).rounded())
      if share > 0 { packed.append(UInt32(index) << 16 | share) }
    }
    for cell in still.indices { pack(cell, still[cell]) }
    for cell in moving.indices { pack(still.count + cell, moving[cell]) }
    pack(still.count * 2, outside)
    return packed
  }

  mutating func unpack(_ packed: [UInt32]) {
    for cell in still.indices {
      still[cell] = 0
      moving[cell] = 0
    }
    outside = 0
    var sum: Float = 0
    for entry in packed { sum += Float(entry & 0xFFFF) }
    guard sum > 0 else { return }
    for entry in packed {
      let index = Int(entry >> 16)
      let weight = Float(entry & 0xFFFF) / sum
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
