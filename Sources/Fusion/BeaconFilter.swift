internal import RealModule

/// The probability of each cell of a site for one beacon, by a hidden Markov model in which the
/// beacon lies in a cell, is carried through it, or is outside the site.
///
/// The evidence of a second is what each working receiver received or did not. Its mean signal
/// strength is that of the cell, with the offset of the beacon, a factor of the site's losses, and a
/// shadowing that stays while the beacon lies: a Gauss-Markov process (Gudmundson, *Correlation model for shadow fading in mobile
/// radio systems*, Electronics Letters 27(23), 1991). A Kalman filter for each receiver subtracts
/// what earlier seconds said of it, so that a beacon which lies for an hour gives little more
/// evidence than in its first minute. Whether a receiver should receive the beacon depends on the
/// same estimate: that a strong beacon vanishes is evidence against all cells. How strong a signal
/// has to be is learned too, because receivers are often worse than a site file states.
package struct BeaconFilter: Sendable, Hashable {
  /// The estimate of a receiver's shadowing from earlier seconds: in a cell with the loss `l`, its mean
  /// is `level + share * l` with `variance`.
  struct Memory: Sendable, Hashable {
    var level: Float = 0
    var share: Float = 0
    var variance: Float

    /// Takes a second with the mean `level` above the beacon's power.
    mutating func update(_ level: Float, noise: Float) {
      let gain = variance / (variance + noise)
      self.level += gain * (level - self.level)
      share += gain * (1 - share)
      variance *= 1 - gain
    }

    /// Passes to the next second, with which the shadowing has a correlation.
    mutating func decay(_ correlation: Float, toward variance: Float) {
      level *= correlation
      share *= correlation
      self.variance += (1 - correlation * correlation) * (variance - self.variance)
    }
  }

  struct Shadow: Sendable, Hashable {
    var lying: Memory
    var carried: Memory
    /// The shares of the evidence of a reception, and of none, that earlier seconds have given.
    var reception: Float = 0
    var absence: Float = 0
  }

  /// The weights that are not nearly zero, each as its index above its 16-bit weight: the cells in
  /// which the beacon lies, then those through which it is carried, then the outside.
  var weights: [UInt32]
  var shadows: [Shadow]
  /// The signal strength at 1 m, in dBm, as the beacon or the site states it.
  var measuredPower: Float
  /// The beacon's signal strength above ``measuredPower``, in dB.
  var offset: Float = 0
  var offsetVariance: Float = 64
  /// The factor between the site's losses and the real ones: people state an exponent that they do not
  /// know, and it differs between places.
  var lossFactor: Float = 1
  var lossFactorVariance: Float = 0.1
  /// The signal strength of which receivers receive half of the advertisements, above the site's
  /// sensitivity in dB, as their receptions say.
  var threshold: Float = 0
  var thresholdVariance = Self.thresholdPrior
  /// The advertisements of a second.
  var advertisements: Float = 1
  /// The share of seconds in which the beacon does not advertise, and the seconds since a reception.
  var silence = Self.leastSilence
  var gap: Float = 0

  /// A beacon that is received for the first time, or believed to be in a room or, with the number
  /// of rooms, outside.
  init(_ model: SiteModel, measuredPower: Float, place: Int? = nil) {
    self.measuredPower = measuredPower
    let memory = Memory(variance: model.shadowing * model.shadowing)
    shadows = Array(repeating: Shadow(lying: memory, carried: memory), count: model.receivers)
    weights = []
    var workspace = Workspace(model.grid)
    // Half of each cell's weight is that of a beacon that lies. The belief is 0.8.
    let believed = model.grid.rooms.count(where: { $0 == place })
    let isOutside = place == model.grid.roomCount
    for cell in 0..<model.grid.count {
      var weight = 0.9 / Float(model.grid.count)
      if place != nil { weight *= 0.1 }
      if model.grid.rooms[cell] == place { weight += 0.8 / Float(believed) }
      workspace.still[cell] = weight / 2
      workspace.moving[cell] = weight / 2
    }
    workspace.outside = isOutside ? 0.9 : 0.1
    weights = workspace.packed(model.grid)
  }

  /// A second of a receiver.
  package enum Evidence: Sendable, Hashable {
    /// It received so many advertisements, with a mean signal strength in dBm if any has one.
    case received(count: Int, mean: Float?)
    /// It worked, and did not receive the beacon.
    case absent
    /// It did not report.
    case missing
  }

  /// Carries out a second: the beacon may move, then the receivers' evidence is taken. The result
  /// stays in the workspace.
  mutating func step(_ evidence: [Evidence], _ model: SiteModel, _ workspace: inout Workspace) {
    workspace.unpack(weights)
    move(model, &workspace)
    updateRates(evidence)
    weigh(evidence, model, &workspace)
    workspace.apply()
    learn(evidence, model, workspace)
    weights = workspace.packed(model.grid)
    // No weight is left if a number is not finite.
    if weights.isEmpty { self = BeaconFilter(model, measuredPower: measuredPower) }
    workspace.unpack(weights)
  }

  private func move(_ model: SiteModel, _ workspace: inout Workspace) {
    let cells = model.grid.count
    for cell in 0..<cells {
      let starts = workspace.still[cell] * model.starts
      let stops = workspace.moving[cell] * model.stops
      workspace.still[cell] += stops - starts
      workspace.moving[cell] += starts - stops
    }
    model.grid.walk(&workspace.moving, &workspace.flows)
    model.grid.shift(&workspace.still, &workspace.flows)
    // A few reach any place: what no plan shows, and seconds without reports.
    var leaping: Float = 0
    for cell in 0..<cells { leaping += workspace.moving[cell] * model.grid.leaps[cell] }
    let anywhere = leaping / Float(cells)
    let enters = workspace.outside * model.enters
    var leaves: Float = 0
    for cell in 0..<cells {
      let isEntrance = model.grid.entrances[cell] > 0
      let left = workspace.moving[cell] * (isEntrance ? model.leaves : model.leaves / 100)
      leaves += left
      workspace.moving[cell] =
        (workspace.moving[cell] - left) * (1 - model.grid.leaps[cell]) + anywhere
        + enters * model.grid.entrances[cell]
    }
    workspace.outside += leaves - enters
  }

  private mutating func updateRates(_ evidence: [Evidence]) {
    advertisements = max(0.1, advertisements * 0.995)
    var isReceived = false
    for case .received(let count, _) in evidence {
      advertisements = min(50, max(advertisements, Float(count)))
      isReceived = true
    }
    if isReceived {
      let kept = 1 - Self.silenceGain
      let silent = 1 - (1 - silence) * Float.pow(kept, min(60, gap))
      silence = max(Self.leastSilence, silent * kept)
      gap = 0
    } else if evidence.contains(.absent) {
      gap += 1
    }
  }

  private static let leastSilence: Float = 0.03
  private static let silenceGain: Float = 0.05

  /// The part of the threshold that counts: half of it at 4 dB, and less below, because small
  /// differences are within its error.
  private var shift: Float {
    let square = threshold * threshold
    return threshold * square / (square + 16)
  }

  /// Sets the workspace's logarithms of the likelihoods.
  private func weigh(_ evidence: [Evidence], _ model: SiteModel, _ workspace: inout Workspace) {
    var lying = Accumulator(width: model.grid.width)
    var carried = Accumulator(width: model.grid.width)
    workspace.clearLogarithms()
    var outside: Float = 0
    let (power, shift) = (measuredPower + offset, shift)
    for (receiver, evidence) in evidence.enumerated() {
      let losses = model.grid.losses[
        receiver * model.grid.width..<(receiver + 1) * model.grid.width]
      let chances = model.chances(receiver: receiver, advertisements: advertisements)
      switch evidence {
      case .received(let count, let mean):
        let shadow = shadows[receiver]
        let weight = 1 - shadow.reception
        workspace.add(chances.received, power - shift, lossFactor, losses, shadow, weight: weight)
        outside += Self.receptionOutside * weight
        guard let mean else { break }
        let noise = model.variance(count: count)
        let level = mean - power
        lying.add(level, shadow.lying, noise: noise, lossFactor, losses)
        carried.add(level, shadow.carried, noise: noise, lossFactor, losses)
        outside += Self.outside(level, shadow.lying, noise: noise, power: power)
      case .absent:
        let shadow = shadows[receiver]
        let weight = 1 - shadow.absence
        workspace.add(chances.absent, power - shift, lossFactor, losses, shadow, weight: weight)
      case .missing: break
      }
    }
    workspace.outsideLogarithm = outside
    // No receiver received the beacon. It may not have advertised.
    if gap > 0 { workspace.mix(silence) }
    // The faster a beacon is carried, the less certain is its shadowing at each receiver. The pace is
    // not known, so only half of this counts in favor of lying.
    carried.logarithms = (carried.logarithms + lying.logarithms) / 2
    lying.finish(offsetVariance, lossFactorVariance, into: &workspace.lying)
    carried.finish(offsetVariance, lossFactorVariance, into: &workspace.carried)
    workspace.residual = lying.residual(offsetVariance, lossFactorVariance)
  }

  /// The logarithm of the probability that a receiver receives a beacon outside.
  private static let receptionOutside: Float = -3.5

  /// The logarithm of the likelihood of a signal from outside: -90 dBm on average, with a standard
  /// deviation of 8 dB, and a shadowing that stays as in a cell.
  private static func outside(
    _ level: Float, _ memory: Memory, noise: Float, power: Float
  ) -> Float {
    let gain = 1 - memory.share
    let error = level - memory.level + gain * (power + 90)
    let variance = memory.variance + noise + gain * gain * 64
    return -0.5 * (error * error / variance + Float.log(variance))
  }

  /// The prior variance of the threshold, and what a second adds to its variance, in dB².
  private static let thresholdPrior: Float = 36
  private static let thresholdDrift: Float = 0.02

  /// Learns the threshold from which receivers received the beacon and which did not.
  ///
  /// A step of Newton's method to the maximum of the probability of these receptions, as in an
  /// extended Kalman filter. The slope is the mean of those of the cells, by their probabilities
  /// (Fisher's identity); the outside has none, so a beacon in the street teaches nothing. The offset
  /// takes its part of the slope: a beacon that is received more seldom may also be weaker.
  private mutating func learnThreshold(
    _ evidence: [Evidence], _ model: SiteModel, _ workspace: Workspace
  ) {
    let power = measuredPower + offset - threshold
    // The logarithms are by the whole dB, and flat at their ends.
    let reach = 3
    var slope: Float = 0
    var curvature: Float = 0
    for (receiver, evidence) in evidence.enumerated() {
      let chances = model.chances(receiver: receiver, advertisements: advertisements)
      let shadow = shadows[receiver]
      let logarithms: [Float]
      let weight: Float
      switch evidence {
      case .received: (logarithms, weight) = (chances.received, 1 - shadow.reception)
      case .absent: (logarithms, weight) = (chances.absent, 1 - shadow.absence)
      case .missing: continue
      }
      func add(_ weights: [Float], _ memory: Memory) {
        let scale = lossFactor * (1 - memory.share)
        let top = power + memory.level - SiteModel.lowestLevel
        for cell in weights.indices where weights[cell] > 0.001 {
          let loss = model.grid.losses[receiver * model.grid.width + cell / 8][cell % 8]
          let level = max(
            Float(reach), min(top - scale * loss, Float(logarithms.count - 1 - reach)))
          let index = Int(level.rounded())
          let (below, above) = (logarithms[index - reach], logarithms[index + reach])
          let share = weight * weights[cell]
          slope += share * (below - above) / Float(2 * reach)
          curvature +=
            share * max(0, 2 * logarithms[index] - below - above) / Float(reach * reach)
        }
      }
      add(workspace.still, shadow.lying)
      add(workspace.moving, shadow.carried)
    }
    let prior = min(Self.thresholdPrior, thresholdVariance + Self.thresholdDrift)
    thresholdVariance = 1 / (1 / prior + curvature)
    threshold += max(-3, min(3, thresholdVariance * slope))
    threshold = max(-5, min(30, threshold))
    change(offsetBy: -max(-1, min(1, min(offsetVariance, 8) * slope)))
  }

  /// Changes the offset, and with it what the shadowing of each receiver is relative to.
  private mutating func change(offsetBy change: Float) {
    let change = max(-30 - offset, min(30 - offset, change))
    offset += change
    for receiver in shadows.indices {
      shadows[receiver].lying.level -= change * shadows[receiver].lying.share
      shadows[receiver].carried.level -= change * shadows[receiver].carried.share
    }
  }

  /// Learns the offset and the loss factor of the beacon, and the shadowing of each receiver.
  private mutating func learn(
    _ evidence: [Evidence], _ model: SiteModel, _ workspace: Workspace
  ) {
    let moving = workspace.moving.reduce(0, +)
    let still = workspace.still.reduce(0, +)
    let inside = max(1e-9, moving + still)
    let share = moving / inside
    let persistence = (1 - share) * model.persistenceStill + share * model.persistenceMoving
    let variance = model.shadowing * model.shadowing
    // Where no receiver receives the beacon, it may be anywhere.
    if gap == 0 { learnThreshold(evidence, model, workspace) }
    let power = measuredPower + offset
    for (receiver, evidence) in evidence.enumerated() {
      if case .received(let count, let mean?) = evidence {
        let noise = model.variance(count: count)
        shadows[receiver].lying.update(mean - power, noise: noise)
        shadows[receiver].carried.update(mean - power, noise: noise)
      }
      switch evidence {
      case .received: shadows[receiver].reception += 0.5 * (1 - shadows[receiver].reception)
      case .absent: shadows[receiver].absence += 0.5 * (1 - shadows[receiver].absence)
      case .missing: break
      }
      shadows[receiver].reception *= persistence
      shadows[receiver].absence *= persistence
      shadows[receiver].lying.decay(persistence, toward: variance)
      shadows[receiver].carried.decay(model.persistenceMoving, toward: variance)
    }
    guard let residual = workspace.residual, still > 0.05 else { return }
    // What is learned from cells that disagree, and while the beacon may be carried, stays uncertain.
    let belief = still / inside
    let (bias, biasVariance) = workspace.moments(residual.offsets, residual.offsetVariances)
    let left = bias * (1 - belief)
    change(offsetBy: bias * belief)
    offsetVariance = min(64, max(2, biasVariance + left * left))
    let (excess, excessVariance) = workspace.moments(residual.factors, residual.factorVariances)
    let factorChange = min(1.8 - lossFactor, max(0.3 - lossFactor, excess * belief / 2))
    lossFactor += factorChange
    let excessLeft = excess - factorChange
    lossFactorVariance = min(0.1, max(0.01, excessVariance + excessLeft * excessLeft))
  }
}

/// The sums of a Gaussian likelihood for each cell, with an offset and a loss factor that are not known.
///
/// With errors e of variance v = 1/w, gains g, losses l, and the variances t of the offset and u of the
/// factor, the logarithm is -1/2 (Σ w e² - b' A⁻¹ b + Σ ln v + ln (t u det A)), in which
/// A = [[1/t + Σ w g², -Σ w g² l], [-Σ w g² l, 1/u + Σ w g² l²]] and b = (Σ w g e, -Σ w g l e).
private struct Accumulator {
  typealias Lanes = SiteGrid.Lanes

  private struct Sums {
    /// Σ w e², Σ w g e and Σ w g l e.
    var squares = Lanes()
    var errors = Lanes()
    var products = Lanes()
    /// Σ w g² l and Σ w g² l².
    var losses = Lanes()
    var lossSquares = Lanes()
  }

  private var sums: [Sums]
  /// Σ w g² and Σ ln v. The latter may be replaced.
  private var precision: Float = 0
  var logarithms: Float = 0
  private var isEmpty = true

  init(width: Int) { sums = Array(repeating: Sums(), count: width) }

  /// Adds a receiver's second with the mean `level` above the beacon's power.
  mutating func add(
    _ level: Float, _ memory: BeaconFilter.Memory, noise: Float, _ factor: Float,
    _ losses: ArraySlice<Lanes>
  ) {
    let level = level - memory.level
    let gain = 1 - memory.share
    let variance = memory.variance + noise
    isEmpty = false
    let weight = 1 / variance
    var index = 0
    for loss in losses {
      let scaled = gain * loss
      let error = level + factor * scaled
      let weighted = weight * error
      sums[index].squares += weighted * error
      sums[index].errors += gain * weighted
      sums[index].products += scaled * weighted
      sums[index].losses += gain * weight * scaled
      sums[index].lossSquares += weight * scaled * scaled
      index += 1
    }
    precision += gain * gain * weight
    logarithms += Float.log(variance)
  }

  func finish(_ offset: Float, _ factor: Float, into result: inout [Lanes]) {
    guard !isEmpty else { return }
    let a = 1 / offset + precision
    for (index, sums) in sums.enumerated() {
      let d = 1 / factor + sums.lossSquares
      let determinant = a * d - sums.losses * sums.losses
      let explained =
        sums.errors * (d * sums.errors - 2 * sums.losses * sums.products)
        + a * sums.products * sums.products
      var constant = offset * factor * determinant
      for lane in 0..<8 { constant[lane] = Float.log(constant[lane]) }
      result[index] -= 0.5 * (sums.squares - explained / determinant + constant + logarithms)
    }
  }

  /// What each cell says of the offset and of the loss factor.
  func residual(_ offset: Float, _ factor: Float) -> Workspace.Residual? {
    guard !isEmpty else { return nil }
    let a = 1 / offset + precision
    var residual = Workspace.Residual()
    for sums in sums {
      let d = 1 / factor + sums.lossSquares
      let determinant = a * d - sums.losses * sums.losses
      residual.offsets.append((d * sums.errors - sums.losses * sums.products) / determinant)
      residual.factors.append((sums.losses * sums.errors - a * sums.products) / determinant)
      residual.offsetVariances.append(d / determinant)
      residual.factorVariances.append(Lanes(repeating: a) / determinant)
    }
    return residual
  }
}
