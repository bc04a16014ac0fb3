internal import RealModule

/// The probability of each cell of a site for one beacon, by a hidden Markov model in which the
/// beacon lies in a cell, is carried through it, or is outside the site.
///
/// The evidence of a second is what each working receiver received or did not. Its mean signal
/// strength is that of the cell, with the offset of the beacon and a shadowing that stays while the
/// beacon lies: a Gauss-Markov process (Gudmundson, *Correlation model for shadow fading in mobile
/// radio systems*, Electronics Letters 27(23), 1991). A Kalman filter for each receiver subtracts
/// what earlier seconds said of it, so that a beacon which lies for an hour gives little more
/// evidence than in its first minute.
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
    /// The share of the evidence of a reception, or of none, that earlier seconds have given.
    var detection: Float = 0
  }

  /// The weights that are not nearly zero, each as its index above its 16-bit weight: the cells in
  /// which the beacon lies, then those through which it is carried, then the outside.
  var weights: [UInt32]
  var shadows: [Shadow]
  /// The signal strength at 1 m, in dBm, as the beacon or the site states it.
  var measuredPower: Float
  /// The beacon's signal strength above ``measuredPower``, in dB.
  var offset: Float = 0
  var offsetVariance: Float = 25
  /// The advertisements of a second.
  var advertisements: Float = 1

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
    updateRate(evidence)
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
    var moving: Float = 0
    for cell in 0..<cells {
      let starts = workspace.still[cell] * model.starts
      let stops = workspace.moving[cell] * model.stops
      workspace.still[cell] += stops - starts
      workspace.moving[cell] += starts - stops
      moving += workspace.moving[cell]
    }
    model.grid.walk(&workspace.moving, &workspace.flows)
    model.grid.shift(&workspace.still, &workspace.flows)
    // A few reach any place: what no plan shows, and seconds without reports.
    let anywhere = moving * model.leaps / Float(cells)
    let enters = workspace.outside * model.enters
    var leaves: Float = 0
    for cell in 0..<cells {
      let isEntrance = model.grid.entrances[cell] > 0
      let left = workspace.moving[cell] * (isEntrance ? model.leaves : model.leaves / 100)
      leaves += left
      workspace.moving[cell] =
        (workspace.moving[cell] - left) * (1 - model.leaps) + anywhere
        + enters * model.grid.entrances[cell]
    }
    workspace.outside += leaves - enters
  }

  private mutating func updateRate(_ evidence: [Evidence]) {
    advertisements = max(0.1, advertisements * 0.995)
    for case .received(let count, _) in evidence {
      advertisements = min(50, max(advertisements, Float(count)))
    }
  }

  /// Sets the workspace's logarithms of the likelihoods.
  private func weigh(_ evidence: [Evidence], _ model: SiteModel, _ workspace: inout Workspace) {
    var lying = Accumulator(width: model.grid.width)
    var carried = Accumulator(width: model.grid.width)
    workspace.clearLogarithms()
    var outside: Float = 0
    let power = measuredPower + offset
    for (receiver, evidence) in evidence.enumerated() {
      let losses = model.grid.losses[
        receiver * model.grid.width..<(receiver + 1) * model.grid.width]
      let chances = model.chances(receiver: receiver, advertisements: advertisements)
      switch evidence {
      case .received(let count, let mean):
        let shadow = shadows[receiver]
        let weight = 1 - shadow.detection
        workspace.add(chances.received, power: power, losses, weight: weight)
        outside += Self.receptionOutside * weight
        guard let mean else { break }
        let noise = model.variance(count: count, mean: mean)
        let level = mean - power
        lying.add(level, shadow.lying, noise: noise, losses)
        carried.add(level, shadow.carried, noise: noise, losses)
        outside += Self.outside(level, shadow.lying, noise: noise, power: power)
      case .absent:
        let weight = 1 - shadows[receiver].detection
        workspace.add(chances.absent, power: power, losses, weight: weight)
      case .missing: break
      }
    }
    workspace.outsideLogarithm = outside
    lying.finish(offsetVariance, into: &workspace.lying)
    carried.finish(offsetVariance, into: &workspace.carried)
    workspace.residual = lying.residual(offsetVariance)
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

  /// Learns the offset of the beacon and the shadowing of each receiver.
  private mutating func learn(
    _ evidence: [Evidence], _ model: SiteModel, _ workspace: Workspace
  ) {
    let moving = workspace.moving.reduce(0, +)
    let still = workspace.still.reduce(0, +)
    let inside = max(1e-9, moving + still)
    let share = moving / inside
    let persistence = (1 - share) * model.persistenceStill + share * model.persistenceMoving
    let variance = model.shadowing * model.shadowing
    let power = measuredPower + offset
    for (receiver, evidence) in evidence.enumerated() {
      if case .received(let count, let mean?) = evidence {
        let noise = model.variance(count: count, mean: mean)
        shadows[receiver].lying.update(mean - power, noise: noise)
        shadows[receiver].carried.update(mean - power, noise: noise)
      }
      if evidence != .missing {
        shadows[receiver].detection += 0.5 * (1 - shadows[receiver].detection)
      }
      shadows[receiver].detection *= persistence
      shadows[receiver].lying.decay(persistence, toward: variance)
      shadows[receiver].carried.decay(model.persistenceMoving, toward: variance)
    }
    guard let residual = workspace.residual, still > 0.05 else { return }
    var mean: Float = 0
    for cell in 0..<model.grid.count {
      mean += workspace.still[cell] * residual.means[cell / 8][cell % 8]
    }
    let change = min(3, max(-3, mean / still)) * (still / inside)
    offset = min(20, max(-20, offset + change))
    offsetVariance = max(4, residual.variance)
    for receiver in shadows.indices {
      shadows[receiver].lying.level -= change * shadows[receiver].lying.share
      shadows[receiver].carried.level -= change * shadows[receiver].carried.share
    }
  }
}

/// The sums of a Gaussian likelihood for each cell, whose common offset is not known.
///
/// With errors e of variance v and an offset of variance t, whose effect on e is g, the logarithm is
/// -1/2 (Σ e²/v - (Σ g e/v)² / (1/t + Σ g²/v) + Σ ln v + ln (1 + t Σ g²/v)).
private struct Accumulator {
  typealias Lanes = SiteGrid.Lanes

  private var squares: [Lanes]
  private var sums: [Lanes]
  private var precision: Float = 0
  private var logarithms: Float = 0
  private var isEmpty = true

  init(width: Int) {
    squares = Array(repeating: Lanes(), count: width)
    sums = squares
  }

  /// Adds a receiver's second with the mean `level` above the beacon's power.
  mutating func add(
    _ level: Float, _ memory: BeaconFilter.Memory, noise: Float, _ losses: ArraySlice<Lanes>
  ) {
    let level = level - memory.level
    let gain = 1 - memory.share
    let variance = memory.variance + noise
    isEmpty = false
    let weight = 1 / variance
    let part = gain * weight
    var index = 0
    for loss in losses {
      let error = level + gain * loss
      squares[index] += error * error * weight
      sums[index] += error * part
      index += 1
    }
    precision += gain * part
    logarithms += Float.log(variance)
  }

  func finish(_ offset: Float, into result: inout [Lanes]) {
    guard !isEmpty else { return }
    let scale = 1 / (1 / offset + precision)
    let constant = logarithms + Float.log(1 + offset * precision)
    for index in squares.indices {
      result[index] -= 0.5 * (squares[index] - sums[index] * sums[index] * scale + constant)
    }
  }

  /// The mean of the offset in each cell, and its variance.
  func residual(_ offset: Float) -> Workspace.Residual? {
    guard !isEmpty else { return nil }
    let variance = 1 / (1 / offset + precision)
    return Workspace.Residual(means: sums.map { $0 * variance }, variance: variance)
  }
}
