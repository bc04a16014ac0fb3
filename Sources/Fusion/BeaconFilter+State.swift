internal import Bytes

extension BeaconFilter {
  /// The bytes of the state.
  var size: Int { 40 + 4 * weights.count + 32 * shadows.count }

  func encode(into state: inout StateWriter) {
    state.put(measuredPower)
    state.put(offset)
    state.put(offsetVariance)
    state.put(lossFactor)
    state.put(lossFactorVariance)
    state.put(advertisements)
    state.put(silence)
    state.put(gap)
    state.put(UInt32(weights.count))
    for weight in weights { state.put(weight) }
    state.put(UInt32(shadows.count))
    for shadow in shadows {
      for memory in [shadow.lying, shadow.carried] {
        state.put(memory.level)
        state.put(memory.share)
        state.put(memory.variance)
      }
      state.put(shadow.reception)
      state.put(shadow.absence)
    }
  }

  init(reading cursor: inout ByteCursor) throws(ParseError) {
    measuredPower = try cursor.readFloat()
    offset = try cursor.readFloat()
    offsetVariance = try cursor.readFloat()
    lossFactor = try cursor.readFloat()
    lossFactorVariance = try cursor.readFloat()
    advertisements = try cursor.readFloat()
    silence = try cursor.readFloat()
    gap = try cursor.readFloat()
    weights = []
    for _ in 0..<(try cursor.readCount(ofBytes: 4)) {
      weights.append(try cursor.readLittleEndian(UInt32.self))
    }
    shadows = []
    for _ in 0..<(try cursor.readCount(ofBytes: 32)) {
      let lying = try Memory(reading: &cursor)
      let carried = try Memory(reading: &cursor)
      shadows.append(
        Shadow(
          lying: lying, carried: carried, reception: try cursor.readFloat(),
          absence: try cursor.readFloat()))
    }
  }

  /// Returns whether the filter can be one of a site's.
  func fits(_ model: SiteModel) -> Bool {
    shadows.count == model.receivers
      && weights.allSatisfy { Int($0 >> 16) <= 2 * model.grid.count }
  }
}

extension BeaconFilter.Memory {
  fileprivate init(reading cursor: inout ByteCursor) throws(ParseError) {
    level = try cursor.readFloat()
    share = try cursor.readFloat()
    variance = try cursor.readFloat()
  }
}
