internal import Bytes

extension BeaconFilter {
  /// The bytes of the state.
  var size: Int {
    let rest = restVariance
    return shadows.reduce(52 + 4 * weights.count) { $0 + ($1.isAtRest(rest) ? 5 : 33) }
  }

  /// The variance of the shadowing of receivers that have not received the beacon. Most have not in a
  /// large site.
  private var restVariance: Float {
    shadows.first { $0.isAtRest($0.lying.variance) }?.lying.variance ?? 0
  }

  func encode(into state: inout StateWriter) {
    state.put(measuredPower)
    state.put(offset)
    state.put(offsetVariance)
    state.put(lossFactor)
    state.put(lossFactorVariance)
    state.put(threshold)
    state.put(thresholdVariance)
    state.put(advertisements)
    state.put(silence)
    state.put(gap)
    state.put(UInt32(weights.count))
    for weight in weights { state.put(weight) }
    let rest = restVariance
    state.put(rest)
    state.put(UInt32(shadows.count))
    for shadow in shadows {
      state.put(shadow.absence)
      state.put(shadow.isAtRest(rest))
      guard !shadow.isAtRest(rest) else { continue }
      for memory in [shadow.lying, shadow.carried] {
        state.put(memory.level)
        state.put(memory.share)
        state.put(memory.variance)
      }
      state.put(shadow.reception)
    }
  }

  init(reading cursor: inout ByteCursor, version: UInt8) throws(ParseError) {
    measuredPower = try cursor.readFloat()
    offset = try cursor.readFloat()
    offsetVariance = try cursor.readFloat()
    lossFactor = try cursor.readFloat()
    lossFactorVariance = try cursor.readFloat()
    if version > SiteFusion.formerVersion {
      threshold = try cursor.readFloat()
      thresholdVariance = try cursor.readFloat()
    }
    advertisements = try cursor.readFloat()
    silence = try cursor.readFloat()
    gap = try cursor.readFloat()
    weights = []
    for _ in 0..<(try cursor.readCount(ofBytes: 4)) {
      weights.append(try cursor.readLittleEndian(UInt32.self))
    }
    shadows = []
    let rest = Memory(variance: try cursor.readFloat())
    for _ in 0..<(try cursor.readCount(ofBytes: 5)) {
      var shadow = Shadow(lying: rest, carried: rest, absence: try cursor.readFloat())
      if try !cursor.readFlag() {
        shadow.lying = try Memory(reading: &cursor)
        shadow.carried = try Memory(reading: &cursor)
        shadow.reception = try cursor.readFloat()
      }
      shadows.append(shadow)
    }
  }

  /// Returns whether the filter can be one of a site's.
  func fits(_ model: SiteModel) -> Bool {
    shadows.count == model.receivers
      && weights.allSatisfy { Int($0 >> 16) <= 2 * model.grid.count }
  }
}

extension BeaconFilter.Shadow {
  /// Whether nothing has been learned of the shadowing, whose variance is then this one.
  fileprivate func isAtRest(_ variance: Float) -> Bool {
    let rest = BeaconFilter.Memory(variance: variance)
    return lying == rest && carried == rest && reception == 0
  }
}

extension BeaconFilter.Memory {
  fileprivate init(reading cursor: inout ByteCursor) throws(ParseError) {
    level = try cursor.readFloat()
    share = try cursor.readFloat()
    variance = try cursor.readFloat()
  }
}
