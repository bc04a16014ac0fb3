internal import RealModule

/// The way of a signal.
package struct SignalPath: Sendable, Hashable {
  /// In meters.
  package var distance: Double
  package var walls: Int
  package var floors: Int

  /// The loss in dB from 1 m before the beacon.
  package func loss(_ propagation: Site.Propagation) -> Double {
    10 * propagation.exponent * Double.log10(distance) + Double(walls) * propagation.wallLoss
      + Double(floors) * propagation.floorLoss
  }
}

/// The losses of signals from the places of a site to its receivers.
package struct SiteLosses: Sendable {
  private struct Pair: Hashable {
    var room: String
    var receiver: String
  }

  private let site: Site
  private let levels: [Pair: Site.Level]

  package init(_ site: Site) {
    self.site = site
    levels = Dictionary(
      site.levels.map { (Pair(room: $0.room, receiver: $0.receiver), $0) },
      uniquingKeysWith: { $1 })
  }

  /// The loss in dB from 1 m before a beacon at a place, by the law alone.
  package func loss(to receiver: Int, from place: Site.Point, floor: Int) -> Double {
    law(to: site.receivers[receiver], from: Cell(room: 0, floor: floor, place: place))
  }

  /// The loss in dB from 1 m before the beacon, with the receiver's offset.
  func loss(to receiver: Site.Receiver, from cell: Cell) -> Double {
    let room = site.rooms[cell.room].name
    let modeled = law(to: receiver, from: cell)
    guard let level = levels[Pair(room: room, receiver: receiver.name)] else { return modeled }
    let measured = site.propagation.measuredPower - level.rssi
    guard let modeledThere = mean(to: receiver, of: cell.room) else { return measured }
    // The cells of the room keep their differences. A short walk is believed less.
    let belief = Double(level.seconds) / Double(level.seconds + 10)
    return modeled + belief * (measured - modeledThere)
  }

  /// The mean of the law over a room that a plan has.
  private func mean(to receiver: Site.Receiver, of room: Int) -> Double? {
    guard receiver.position != nil, !site.rooms[room].outline.isEmpty,
      let center = site.rooms[room].center
    else { return nil }
    let corners = site.rooms[room].outline.map {
      Site.Point(($0.x + center.x) / 2, ($0.y + center.y) / 2)
    }
    let places = corners + [center]
    let sum = places.reduce(0) {
      $0 + law(to: receiver, from: Cell(room: room, floor: site.rooms[room].floor, place: $1))
    }
    return sum / Double(places.count)
  }

  private func law(to receiver: Site.Receiver, from cell: Cell) -> Double {
    let propagation = site.propagation
    guard let place = cell.place, let position = receiver.position else {
      // The middle of what a receiver in the room, and one in another room, have indoors.
      return (receiver.room == site.rooms[cell.room].name ? 5 : 20) - receiver.offset
    }
    return path(
      from: place, floor: cell.floor, height: propagation.beaconHeight, to: receiver, at: position
    ).loss(propagation) - receiver.offset
  }

  /// Returns the way from the beacon that a receiver advertises to another receiver, if both have a
  /// place.
  package func path(
    from transmitter: Site.Receiver, to receiver: Site.Receiver
  ) -> SignalPath? {
    guard let place = transmitter.position, let position = receiver.position else { return nil }
    return path(
      from: place, floor: transmitter.floor, height: transmitter.height, to: receiver, at: position)
  }

  private func path(
    from place: Site.Point, floor: Int, height: Double, to receiver: Site.Receiver,
    at position: Site.Point
  ) -> SignalPath {
    let rise =
      Double(receiver.floor - floor) * site.propagation.floorHeight + receiver.height - height
    let plan = (position - place).length
    return SignalPath(
      distance: max(0.3, (plan * plan + rise * rise).squareRoot()),
      walls: walls(from: place, to: position, floor: floor), floors: abs(receiver.floor - floor))
  }

  /// The number of walls between two places of a floor. Two rooms share the wall between them.
  private func walls(from start: Site.Point, to end: Site.Point, floor: Int) -> Int {
    var crossings: [Double] = []
    for room in site.rooms where room.floor == floor {
      for edge in room.edges {
        if let share = Self.crossing(start, end, edge) { crossings.append(share) }
      }
    }
    crossings.sort()
    let length = (end - start).length
    var walls = 0
    var last = -Double.infinity
    for crossing in crossings where (crossing - last) * length > 0.4 {
      walls += 1
      last = crossing
    }
    return walls
  }

  /// The share of the way from `start` to `end` at which an edge crosses it.
  private static func crossing(
    _ start: Site.Point, _ end: Site.Point, _ edge: (Site.Point, Site.Point)
  ) -> Double? {
    let way = end - start
    let side = edge.1 - edge.0
    let determinant = way.x * side.y - way.y * side.x
    guard abs(determinant) > 1e-12 else { return nil }
    let toEdge = edge.0 - start
    let along = (toEdge.x * side.y - toEdge.y * side.x) / determinant
    let across = (toEdge.x * way.y - toEdge.y * way.x) / determinant
    guard 0..<1 ~= along, 0..<1 ~= across else { return nil }
    return along
  }
}
