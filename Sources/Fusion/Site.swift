package import Advertising

/// A site: its rooms, its receivers, and how signals spread in it.
package struct Site: Sendable, Hashable {
  /// A place on a floor plan, in meters.
  package struct Point: Sendable, Hashable {
    package var x: Double
    package var y: Double

    package init(_ x: Double, _ y: Double) {
      self.x = x
      self.y = y
    }
  }

  /// A room, whose probability is that of its cells.
  package struct Room: Sendable, Hashable {
    package var name: String
    /// The corners in order, or none for a room that no plan has, which is then a single cell.
    package var outline: [Point]
    package var floor: Int
    /// Beacons enter and leave the site here. If no room is an entrance, all are.
    package var isEntrance: Bool

    package init(
      _ name: String, outline: [Point] = [], floor: Int = 0, isEntrance: Bool = false
    ) {
      self.name = name
      self.outline = outline
      self.floor = floor
      self.isEntrance = isEntrance
    }
  }

  package struct Receiver: Sendable, Hashable {
    package var name: String
    /// The place on the plan, or `nil` for a receiver of which only the room is known.
    package var position: Point?
    package var room: String?
    package var floor: Int
    /// The height above the floor, in meters.
    package var height: Double
    /// The signal strength that it reports above that of the others, in dB.
    package var offset: Double
    /// The share of a strong beacon's advertisements that it receives.
    package var rate: Double
    /// The beacon that the receiver itself advertises.
    package var beacon: BeaconIdentity?

    package init(
      _ name: String, at position: Point? = nil, room: String? = nil, floor: Int = 0,
      height: Double = 2, offset: Double = 0, rate: Double = 0.9, beacon: BeaconIdentity? = nil
    ) {
      self.name = name
      self.position = position
      self.room = room
      self.floor = floor
      self.height = height
      self.offset = offset
      self.rate = rate
      self.beacon = beacon
    }
  }

  /// The mean signal strength that a receiver had in a room, which a walk through the rooms found.
  package struct Level: Sendable, Hashable {
    package var room: String
    package var receiver: String
    /// In dBm, of a beacon with the measured power ``Propagation/measuredPower``.
    package var rssi: Double
    /// The seconds of the walk in this room.
    package var seconds: Int

    package init(room: String, receiver: String, rssi: Double, seconds: Int) {
      self.room = room
      self.receiver = receiver
      self.rssi = rssi
      self.seconds = seconds
    }
  }

  /// How signals spread: the log-distance law with walls and floors (Rappaport, *Wireless
  /// Communications*, 2nd ed., 2002, sections 4.9.1 and 4.11.5).
  package struct Propagation: Sendable, Hashable {
    package var exponent = 2.5
    /// The loss of each wall between two rooms, in dB.
    package var wallLoss = 3.0
    /// The loss of each floor, in dB.
    package var floorLoss = 15.0
    /// The height of a floor, in meters.
    package var floorHeight = 3.0
    /// The height of a carried beacon above its floor, in meters.
    package var beaconHeight = 1.0
    /// The standard deviation of what bodies, furniture and walls add at a place, in dB.
    package var shadowing = 5.0
    /// The standard deviation of one advertisement's signal strength about its mean, in dB.
    package var noise = 4.0
    /// The signal strength at which a receiver receives half of the advertisements, in dBm.
    package var sensitivity = -92.0
    /// The signal strength at 1 m where neither the beacon nor the site states it, in dBm.
    package var measuredPower = -59.0

    package init() {}
  }

  package var name: String
  package var rooms: [Room]
  package var receivers: [Receiver]
  package var levels: [Level]
  package var propagation: Propagation
  /// The speed of people who carry beacons, in m/s.
  package var walkingSpeed = 1.0
  /// The share of a wall between two rooms through which people walk.
  package var opening = 0.3
  /// The mean seconds for which a beacon lies before someone takes it.
  package var lying = 120.0

  package init(
    _ name: String, rooms: [Room], receivers: [Receiver], levels: [Level] = [],
    propagation: Propagation = Propagation()
  ) {
    self.name = name
    self.rooms = rooms
    self.receivers = receivers
    self.levels = levels
    self.propagation = propagation
  }
}

extension Site.Room {
  /// Returns whether a point lies in the outline, by the number of edges that a ray to the right
  /// crosses.
  package func contains(_ point: Site.Point) -> Bool {
    var isInside = false
    for (start, end) in edges where (start.y > point.y) != (end.y > point.y) {
      let x = start.x + (point.y - start.y) / (end.y - start.y) * (end.x - start.x)
      if point.x < x { isInside.toggle() }
    }
    return isInside
  }

  /// The edges of the outline.
  var edges: some Sequence<(Site.Point, Site.Point)> {
    zip(outline, outline.dropFirst() + outline.prefix(1))
  }

  /// The area within the outline in m², if no edges cross.
  package var area: Double {
    abs(edges.reduce(0) { $0 + $1.0.x * $1.1.y - $1.1.x * $1.0.y }) / 2
  }

  /// Whether two edges of the outline cross.
  package var hasCrossingEdges: Bool {
    func side(_ edge: (Site.Point, Site.Point), _ point: Site.Point) -> Double {
      let way = edge.1 - edge.0
      let other = point - edge.0
      return way.x * other.y - way.y * other.x
    }
    let edges = Array(edges)
    return edges.indices.contains { first in
      edges[(first + 1)...].contains { second in
        side(edges[first], second.0) * side(edges[first], second.1) < 0
          && side(second, edges[first].0) * side(second, edges[first].1) < 0
      }
    }
  }

  /// The distance of a point from the outline, in meters.
  func distance(to point: Site.Point) -> Double {
    edges.map { start, end in
      let length = end - start
      let square = length.x * length.x + length.y * length.y
      let away = point - start
      let share = square > 0 ? (away.x * length.x + away.y * length.y) / square : 0
      let nearest = min(1, max(0, share))
      return (away - Site.Point(length.x * nearest, length.y * nearest)).length
    }.min() ?? .infinity
  }
}

extension Site.Point {
  package static func - (left: Self, right: Self) -> Self {
    Self(left.x - right.x, left.y - right.y)
  }

  package var length: Double { (x * x + y * y).squareRoot() }
}
