package import Advertising
package import Scanning

/// The sides of beacons: a state machine that receives the sightings of two adapters.
///
/// The side follows from the difference of the two links' smoothed levels. A side is reported when
/// the difference exceeds 3 dB and its own standard error, until it falls below half of that, both
/// by 2 dB · s (``CumulativeSum``). At first the side is unknown until the standard error is below
/// 1.5 dB or a side is reported. The caller subtracts the adapters' offsets.
///
/// A beacon whose signal one adapter has not measured lately has no side, with one exception: the
/// other adapter has received it ten times since, and the silent adapter still receives other
/// beacons. With equally good reception this would happen once in a thousand times.
///
/// Memory is bounded by the number of beacons, about 300 bytes each.
package struct SideFinder: Sendable {
  /// The least difference for a side, in dB.
  fileprivate static let edge: Float = 3
  /// The excess over the limit that changes the side, in dB · s.
  fileprivate static let excess: Float = 2
  /// The least number of measurements of each link that a side needs.
  fileprivate static let fewestMeasurements: UInt32 = 3
  /// The number of packets received by only one adapter that suffices for a side.
  fileprivate static let alonePackets: UInt8 = 10

  /// The links of one beacon to both adapters, the left one first.
  fileprivate struct Links: Sendable {
    var filters = InlineArray<2, RSSIFilter>(repeating: RSSIFilter())
    /// The side from the difference of the levels; `nil` if unknown.
    var side = CumulativeSum<Side?>(nil)
    /// The packets that each adapter received since the other one's last, at most ``alonePackets``.
    var alone = InlineArray<2, UInt8>(repeating: 0)
  }

  private let names: [AdapterName]
  /// The adapters' numbers; `nil` while the number of an address is unknown.
  private var numbers: [UInt16?]
  /// The time at which each adapter last received a beacon; `nil` before the first.
  private var received: [MonotonicTime?] = [nil, nil]
  private var table: BeaconTable<Links>

  /// Creates a finder. Beyond the maximum, the beacons received longest ago are evicted.
  package init(_ sides: Sides, maximumBeacons: Int) {
    names = [sides.left, sides.right]
    numbers = names.map { if case .number(let number) = $0 { number } else { nil } }
    table = BeaconTable(capacity: maximumBeacons)
  }

  package mutating func removeAll() { table = BeaconTable(capacity: table.capacity) }

  /// Updates an adapter's number from its health: numbers change when adapters come and go.
  package mutating func update(_ health: ScannerHealth) {
    guard let address = health.address, let adapter = health.adapter,
      case .number(let number)? = AdapterName(adapter)
    else { return }
    for (index, name) in names.enumerated() {
      guard case .address(let named) = name else { continue }
      if named == address {
        numbers[index] = health.condition == .removed ? nil : number
      } else if numbers[index] == number {
        numbers[index] = nil
      }
    }
  }

  /// Receives a sighting of any adapter, in the order of time.
  package mutating func receive(_ sighting: Sighting) {
    guard let own = numbers.firstIndex(of: sighting.adapter) else { return }
    received[own] = sighting.time
    guard let rssi = sighting.rssi else { return }
    table.update(sighting.beacon, at: sighting.time) {
      Links()
    } update: { links in
      links.receive(Float(rssi), by: own, at: sighting.time)
    }
  }

  /// Returns the side of a beacon at a moment, or `nil` if it is unknown.
  package func side(of beacon: BeaconIdentity, at time: MonotonicTime) -> Side? {
    guard let links = table.state(of: beacon) else { return nil }
    switch (links.isRecent(0, at: time), links.isRecent(1, at: time)) {
    case (true, true): return links.side.state
    case (true, false): return isAlone(0, links, at: time) ? .left : nil
    case (false, true): return isAlone(1, links, at: time) ? .right : nil
    case (false, false): return nil
    }
  }

  /// Returns whether one adapter alone received a beacon often, while the other still receives.
  private func isAlone(_ own: Int, _ links: Links, at time: MonotonicTime) -> Bool {
    guard links.alone[own] == Self.alonePackets, let other = received[1 - own] else { return false }
    return time.seconds(since: other) <= Ranger.recentSeconds
  }
}

extension SideFinder.Links {
  fileprivate mutating func receive(_ rssi: Float, by own: Int, at time: MonotonicTime) {
    if !isRecent(own, at: time) { side = CumulativeSum(nil) }
    if alone[own] < SideFinder.alonePackets { alone[own] += 1 }
    alone[1 - own] = 0
    guard filters[own].update(rssi: rssi, at: time.nanoseconds), isRecent(1 - own, at: time),
      min(filters[0].measurements, filters[1].measurements) >= SideFinder.fewestMeasurements
    else { return }
    let (left, right) = (filters[0], filters[1])
    let difference = left.mean - right.mean
    let deviation = (left.variance + right.variance).squareRoot()
    let edge = max(SideFinder.edge, deviation)
    let next: Side = abs(difference) <= edge ? .between : difference > 0 ? .left : .right
    // At first the difference is too uncertain.
    if side.state == nil, next == .between, deviation > SideFinder.edge / 2 { return }
    // The side that the difference supports, and its excess over the limit of the current side.
    let (towards, beyond): (Side, Float) =
      switch side.state {
      case .left: difference < edge / 2 ? (.between, edge / 2 - difference) : (.left, 0)
      case .right: difference > -edge / 2 ? (.between, difference + edge / 2) : (.right, 0)
      case .between, nil: (next, abs(difference) - edge)
      }
    side.update(
      to: towards == side.state ? towards : next, towards: towards, beyond: beyond,
      at: time.nanoseconds, limit: SideFinder.excess,
      changesAtOnce: side.state == nil && next == .between)
  }

  /// Returns whether an adapter has measured the beacon's signal lately.
  fileprivate func isRecent(_ own: Int, at time: MonotonicTime) -> Bool {
    let filter = filters[own]
    return filter.count > 0
      && time.seconds(since: MonotonicTime(nanoseconds: filter.lastTime)) <= Ranger.recent(filter)
  }
}
