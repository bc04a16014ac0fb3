internal import Advertising
package import Bytes

// The state is exact: fusion that goes on from it gives what it would have given without a stop.

extension SiteFusion {
  private static let version: UInt8 = 5
  /// The version before, in which receivers had no live time of their own, and beacons no threshold.
  static let formerVersion = version - 1

  /// The bytes of the state.
  package var size: Int { headSize + clock.size + beaconsSize + trends.size }

  /// The state, for ``init(_:configuration:state:isSameSite:)``.
  package func encodedState() -> [UInt8] {
    var state = StateWriter()
    state.put(Self.version)
    state.put(UInt32(model.receivers))
    for receiver in model.site.receivers { state.put(receiver.name) }
    clock.encode(into: &state)
    state.put(UInt32(beacons.count))
    for (identity, beacon) in beacons.sorted(by: { $0.key < $1.key }) {
      state.put(identity)
      beacon.encode(into: &state)
    }
    trends.encode(into: &state)
    return state.bytes
  }

  /// Goes on from a state.
  ///
  /// If the site's file has changed since, `isSameSite` is false: each beacon is then believed to be
  /// in the room that was reported, and all else is learned anew, but for how signals fade if the model
  /// is the same. From a room that the site does not
  /// have any more, the beacon has a transition in the next second.
  package init(
    _ model: SiteModel, configuration: Configuration = Configuration(), state: RawSpan,
    isSameSite: Bool
  ) throws(ParseError) {
    self.init(model, configuration: configuration)
    var cursor = ByteCursor(state)
    let version = try cursor.readUInt8()
    guard Self.formerVersion...Self.version ~= version else {
      throw ParseError(.invalid("another version of the state"), at: 0)
    }
    var names: [String] = []
    for _ in 0..<(try cursor.readCount(ofBytes: 2)) { names.append(try cursor.readText()) }
    try clock.read(&cursor, receivers: names.map { numbers[$0] }, version: version)
    for _ in 0..<(try cursor.readCount(ofBytes: 60)) {
      let identity = try cursor.readIdentity()
      var beacon = try Beacon(reading: &cursor, version: version)
      if !isSameSite || !beacon.filter.fits(model) {
        beacon.filter = BeaconFilter(
          model, measuredPower: beacon.filter.measuredPower, place: index(of: beacon.place))
      }
      beacons[identity] = beacon
      beaconsSize += beacon.size
    }
    try trends.read(&cursor)
  }
}

extension SiteFusion.Beacon {
  /// The bytes of the beacon with its identity in a state.
  var size: Int {
    let room = if case .room(let name) = place { 2 + name.utf8.count } else { 0 }
    return 43 + room + filter.size
  }

  fileprivate func encode(into state: inout StateWriter) {
    state.put(received)
    state.put(since)
    switch place {
    case .unknown: state.put(hadPlace ? 3 : 0 as UInt8)
    case .outside: state.put(1 as UInt8)
    case .room(let name):
      state.put(2 as UInt8)
      state.put(name)
    }
    state.put(otherPower.map(Int16.init) ?? .min)
    state.put(UInt32(clamping: otherPowerReports))
    filter.encode(into: &state)
  }

  fileprivate init(reading cursor: inout ByteCursor, version: UInt8) throws(ParseError) {
    received = try cursor.readLittleEndian(Int64.self)
    since = try cursor.readLittleEndian(Int64.self)
    let start = cursor.offset
    let kind = try cursor.readUInt8()
    hadPlace = kind > 0
    switch kind {
    case 0, 3: break
    case 1: place = .outside
    case 2: place = .room(try cursor.readText())
    default: throw ParseError(.invalid("not a place"), at: start)
    }
    otherPower = Int8(exactly: try cursor.readLittleEndian(Int16.self))
    otherPowerReports = Int(try cursor.readLittleEndian(UInt32.self))
    filter = try BeaconFilter(reading: &cursor, version: version)
  }
}

extension ReceiverSecond {
  func encode(into state: inout StateWriter) {
    state.put(receiver)
    state.put(boot)
    state.put(number)
    state.put(time)
    state.put(seconds)
    state.put(delay)
    state.put(isReceiving)
    state.put(UInt32(receptions.count))
    for reception in receptions {
      state.put(reception.beacon)
      state.put(UInt32(clamping: reception.count))
      state.put(reception.mean ?? .nan)
      state.put(reception.measuredPower.map(Int16.init) ?? .min)
    }
  }

  init(reading cursor: inout ByteCursor) throws(ParseError) {
    receiver = try cursor.readText()
    boot = try cursor.readLittleEndian(UInt64.self)
    number = try cursor.readLittleEndian(UInt64.self)
    time = try cursor.readLittleEndian(Int64.self)
    seconds = try cursor.readDouble()
    delay = try cursor.readDouble()
    isReceiving = try cursor.readFlag()
    receptions = []
    for _ in 0..<(try cursor.readCount(ofBytes: 34)) {
      let beacon = try cursor.readIdentity()
      let count = Int(try cursor.readLittleEndian(UInt32.self))
      let mean = try cursor.readDouble()
      let power = try cursor.readLittleEndian(Int16.self)
      receptions.append(
        Reception(
          beacon, count: count, mean: mean.isNaN ? nil : mean, measuredPower: Int8(exactly: power)))
    }
  }
}

extension StateWriter {
  mutating func put(_ beacon: BeaconIdentity) {
    put(beacon.uuid.high)
    put(beacon.uuid.low)
    put(beacon.major)
    put(beacon.minor)
  }
}

extension ByteCursor {
  @_lifetime(self: copy self)
  mutating func readIdentity() throws(ParseError) -> BeaconIdentity {
    let high = try readLittleEndian(UInt64.self)
    let low = try readLittleEndian(UInt64.self)
    return BeaconIdentity(
      uuid: ProximityUUID(high: high, low: low), major: try readLittleEndian(UInt16.self),
      minor: try readLittleEndian(UInt16.self))
  }
}
