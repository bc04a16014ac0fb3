internal import Advertising
internal import Bytes

/// How much weaker a beacon is received than it was, as its battery may be low.
///
/// Its level is the signal strength at the receiver that is nearest to it, less what the site's model
/// expects of the place. Each room has a reference for each receiver, so neither another room nor the
/// failure of a receiver changes what is compared. The difference between a level and its reference is
/// shared by the loss, which all references have in common, and the reference: of a young reference,
/// little is believed.
struct SignalTrend: Sendable, Hashable {
  /// A room and the nearest receiver, by their numbers.
  struct Place: Sendable, Hashable {
    var room: UInt16
    var receiver: UInt16

    init(room: Int, receiver: Int) {
      self.room = UInt16(clamping: room)
      self.receiver = UInt16(clamping: receiver)
    }
  }

  struct Reference: Sendable, Hashable {
    var place: Place
    /// The level of a beacon without a loss, in dB.
    var level: Float
    /// The levels that it was learned from, at most two weeks.
    var minutes: UInt16
  }

  /// The minutes of a day, over which the loss is a mean; those of two weeks, the most of a
  /// reference; and those of a month, after which a loss is the usual.
  private static let day: Float = 1440
  private static let fortnight: UInt16 = 20_160
  private static let month: Float = 43_200
  /// The losses in dB at which a beacon begins to fade, and below which it does so no more. On
  /// simulated sites a beacon that does not fade stays below 2 dB.
  private static let beginning: Float = 6
  private static let end: Float = 4
  /// The most references, those of the places where the beacon was for the longest time.
  static let maximumReferences = 6

  private(set) var references: [Reference] = []
  /// How much weaker it is than the references, in dB.
  private(set) var loss: Float = 0
  private(set) var isFading = false
  /// The second of the last level.
  private(set) var second: Int64

  init(second: Int64) { self.second = second }

  /// The minutes of all references.
  var minutes: Int { references.reduce(0) { $0 + Int($1.minutes) } }

  /// Takes the level of a minute.
  mutating func add(_ level: Float, at place: Place, second: Int64) {
    self.second = second
    let index = index(of: place, level)
    if references[index].minutes < Self.fortnight { references[index].minutes += 1 }
    let error = references[index].level - loss - level
    let usual = loss / Self.month
    loss += error / Self.day - usual
    references[index].level -= error / Float(references[index].minutes) + usual
    isFading = loss >= (isFading ? Self.end : Self.beginning)
  }

  private mutating func index(of place: Place, _ level: Float) -> Int {
    if let index = references.firstIndex(where: { $0.place == place }) { return index }
    if references.count >= Self.maximumReferences,
      let least = references.indices.min(by: { references[$0].minutes < references[$1].minutes })
    {
      references.remove(at: least)
    }
    references.append(Reference(place: place, level: level + loss, minutes: 0))
    return references.endIndex - 1
  }
}

/// The trends of a site's beacons. They outlive the beacons that leave the site, for a month.
struct SignalTrends: Sendable, Hashable {
  /// The seconds for which a trend is kept, and the minutes that it must have for that after the
  /// beacon has left the site.
  private static let memory: Int64 = 30 * 86_400
  private static let leastMinutes = 60

  private var trends: [BeaconIdentity: SignalTrend] = [:]
  /// The bytes in a state.
  private(set) var size = 12
  /// The fingerprint of the site's model, which the levels depend on.
  private let model: UInt64
  /// The most bytes in a state. Beyond them, the trends that have had no level for the longest time
  /// are forgotten.
  var maximumSize: Int

  init(of model: UInt64, maximumSize: Int) {
    self.model = model
    self.maximumSize = maximumSize
  }

  /// The loss of a beacon in dB while it is fading.
  func fading(of beacon: BeaconIdentity) -> Double? {
    trends[beacon].flatMap { $0.isFading && $0.loss.isFinite ? Double($0.loss) : nil }
  }

  /// Takes the level of a beacon in a minute.
  mutating func add(
    _ level: Float, of beacon: BeaconIdentity, at place: SignalTrend.Place, second: Int64
  ) {
    var trend = trends[beacon] ?? SignalTrend(second: second)
    trend.add(level, at: place, second: second)
    set(trend, of: beacon)
  }

  /// Forgets a beacon whose power has changed.
  mutating func forget(_ beacon: BeaconIdentity) { set(nil, of: beacon) }

  /// Keeps a beacon that has left the site if it was there for long, or is fading.
  mutating func leave(_ beacon: BeaconIdentity) {
    guard let trend = trends[beacon], !trend.isFading, trend.minutes < Self.leastMinutes else {
      return
    }
    set(nil, of: beacon)
  }

  /// Forgets the trends that are too old, and those beyond the most bytes.
  mutating func trim(second: Int64) {
    // Clocks that were set back leave trends that are later.
    let known = second - Self.memory...second + Self.memory
    for (beacon, trend) in trends where !known.contains(trend.second) { set(nil, of: beacon) }
    guard size > maximumSize else { return }
    let order = trends.sorted { ($0.value.second, $0.key) < ($1.value.second, $1.key) }
    for (beacon, _) in order where size > maximumSize { set(nil, of: beacon) }
  }

  private mutating func set(_ trend: SignalTrend?, of beacon: BeaconIdentity) {
    size += (trend?.size ?? 0) - (trends[beacon]?.size ?? 0)
    trends[beacon] = trend
  }
}

extension SignalTrends {
  func encode(into state: inout StateWriter) {
    state.put(model)
    state.put(UInt32(trends.count))
    for (beacon, trend) in trends.sorted(by: { $0.key < $1.key }) {
      state.put(beacon)
      trend.encode(into: &state)
    }
  }

  /// Reads the trends of a state, unless they are those of another model.
  mutating func read(_ cursor: inout ByteCursor) throws(ParseError) {
    let isSameModel = try cursor.readLittleEndian(UInt64.self) == model
    for _ in 0..<(try cursor.readCount(ofBytes: 34)) {
      let beacon = try cursor.readIdentity()
      let trend = try SignalTrend(reading: &cursor)
      if isSameModel { set(trend, of: beacon) }
    }
  }
}

extension SignalTrend {
  /// The bytes with the beacon's identity in a state.
  fileprivate var size: Int { 34 + 10 * references.count }

  fileprivate func encode(into state: inout StateWriter) {
    state.put(second)
    state.put(loss)
    state.put(isFading)
    state.put(UInt8(clamping: references.count))
    for reference in references {
      state.put(reference.place.room)
      state.put(reference.place.receiver)
      state.put(reference.level)
      state.put(reference.minutes)
    }
  }

  fileprivate init(reading cursor: inout ByteCursor) throws(ParseError) {
    second = try cursor.readLittleEndian(Int64.self)
    loss = try cursor.readFloat()
    isFading = try cursor.readFlag()
    for _ in 0..<(try cursor.readUInt8()) {
      let room = Int(try cursor.readLittleEndian(UInt16.self))
      let receiver = Int(try cursor.readLittleEndian(UInt16.self))
      references.append(
        Reference(
          place: Place(room: room, receiver: receiver), level: try cursor.readFloat(),
          minutes: try cursor.readLittleEndian(UInt16.self)))
    }
  }
}
