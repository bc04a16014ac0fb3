internal import RealModule

/// The cells of a site's rooms, and the loss of a signal from each cell to each receiver.
struct SiteGrid: Sendable {
  typealias Lanes = SIMD8<Float>

  /// A step from a cell to a neighbor in each part of a second.
  private struct Link {
    var from: Int32
    var to: Int32
    var share: Float
  }

  /// The room of each cell.
  let rooms: [Int]
  let roomCount: Int
  /// The middle of each cell, or `nil` in a room that no plan has.
  let places: [Site.Point?]
  /// The number of vectors that hold a value for each cell.
  let width: Int
  /// The share of the beacons that enter the site which appear in each cell.
  let entrances: [Float]
  /// The share of the carried beacons in each cell that reach any other one in a second.
  let leaps: [Float]
  /// The loss from 1 m in dB: `width` vectors for each receiver.
  let losses: [Lanes]
  private let links: [Link]

  var count: Int { rooms.count }

  /// The most cells of a site. The cells of a large site are larger.
  static let limit = 1024

  /// The parts of a second, in each of which a walking person may reach a neighboring cell.
  private let parts: Int
  /// The steps of a lying beacon in a second, as a share of a walking one's in a part.
  private let shifts: Float

  init(_ site: Site) {
    let layout = Layout(site)
    let cells = layout.cells
    rooms = cells.map(\.room)
    roomCount = site.rooms.count
    places = cells.map(\.place)
    let width = (cells.count + 7) / 8
    self.width = width
    func vectors(_ value: (Int) -> Float) -> [Lanes] {
      (0..<width).map { vector in
        var lanes = Lanes()
        for lane in 0..<8 where vector * 8 + lane < cells.count {
          lanes[lane] = value(vector * 8 + lane)
        }
        return lanes
      }
    }
    let hasEntrance = site.rooms.contains(where: \.isEntrance)
    let isEntrance = cells.map { !hasEntrance || site.rooms[$0.room].isEntrance }
    let share = 1 / Float(max(1, isEntrance.count(where: { $0 })))
    entrances = isEntrance.map { $0 ? share : 0 }
    // A beacon leaves a room that no plan has in twenty seconds.
    leaps = cells.map { $0.place == nil ? 0.05 : 0.003 }
    let losses = SiteLosses(site)
    self.losses = site.receivers.flatMap { receiver in
      vectors { Float(losses.loss(to: receiver, from: cells[$0])) }
    }
    // A random walk that reaches as far as a person who walks straight ahead for four seconds; 0.05 m
    // in a second for a lying beacon.
    let variance = 2 * site.walkingSpeed * site.walkingSpeed
    let step = layout.size * layout.size
    parts = max(1, Int((variance / (2 * 0.2 * step)).rounded(.up)))
    shifts = Float(min(1, 0.0025 * Double(parts) / max(1e-6, variance)))
    let each = Float(variance / (2 * step * Double(parts)))
    links = layout.neighbors.map { from, to in
      Link(
        from: Int32(from), to: Int32(to),
        share: cells[from].room == cells[to].room ? each : each * Float(site.opening))
    }
  }

  /// Spreads the weights of a carried beacon over the cells that it reaches in a second.
  func walk(_ weights: inout [Float], _ flows: inout [Float]) {
    for _ in 0..<parts { spread(&weights, &flows, scale: 1) }
  }

  /// Spreads the weights of a lying beacon as little as people shift what they have with them.
  func shift(_ weights: inout [Float], _ flows: inout [Float]) {
    spread(&weights, &flows, scale: shifts)
  }

  private func spread(_ weights: inout [Float], _ flows: inout [Float], scale: Float) {
    for index in flows.indices { flows[index] = 0 }
    for link in links {
      let flow = (weights[Int(link.from)] - weights[Int(link.to)]) * link.share * scale
      flows[Int(link.from)] -= flow
      flows[Int(link.to)] += flow
    }
    for index in weights.indices { weights[index] += flows[index] }
  }
}

/// A cell of a room.
struct Cell {
  var room: Int
  var floor: Int
  var place: Site.Point?
}

/// The squares of a site's rooms, and which ones touch.
private struct Layout {
  var cells: [Cell] = []
  var neighbors: [(Int, Int)] = []
  /// The side of a square, in meters.
  let size: Double

  private struct Square: Hashable {
    var column: Int
    var row: Int
    var floor: Int
  }

  init(_ site: Site) {
    // At most half of the cells by area, since a room has the squares along its outline too.
    let area = site.rooms.reduce(0) { $0 + $1.area }
    // Whatever the outlines are, few squares are looked at.
    let boxes = site.rooms.compactMap(\.bounds).map { $0.high - $0.low }
    let boxArea = boxes.reduce(0) { $0 + $1.x * $1.y }
    let boxSides = boxes.reduce(0) { $0 + $1.x + $1.y }
    size = [
      0.25, (area / Double(SiteGrid.limit / 2)).squareRoot(), (boxArea / 65_536).squareRoot(),
      boxSides / 16_384,
    ].reduce(0, max)
    var numbers: [Square: Int] = [:]
    for (index, room) in site.rooms.enumerated() {
      let before = cells.count
      for square in squares(of: room) where numbers[square] == nil {
        let place = middle(square)
        // A square in a wall belongs to a room beside it.
        let isIn = room.contains(place) || room.distance(to: place) < size / 2
        let isInOther = site.rooms.contains { $0.floor == room.floor && $0.contains(place) }
        guard room.contains(place) || isIn && !isInOther, cells.count < SiteGrid.limit else {
          continue
        }
        numbers[square] = cells.count
        cells.append(Cell(room: index, floor: room.floor, place: place))
      }
      // A room that is smaller than a square, and one that no plan has.
      if cells.count == before {
        cells.append(Cell(room: index, floor: room.floor, place: room.center))
      }
    }
    for (square, number) in numbers.sorted(by: { $0.value < $1.value }) {
      var right = square
      right.column += 1
      var above = square
      above.row += 1
      neighbors += [right, above].compactMap { numbers[$0] }.map { (number, $0) }
    }
  }

  private func middle(_ square: Square) -> Site.Point {
    Site.Point((Double(square.column) + 0.5) * size, (Double(square.row) + 0.5) * size)
  }

  private func squares(of room: Site.Room) -> [Square] {
    guard let bounds = room.bounds else { return [] }
    func range(_ low: Double, _ high: Double) -> ClosedRange<Int> {
      Int((low / size).rounded(.down)) - 1...Int((high / size).rounded(.up))
    }
    return range(bounds.low.y, bounds.high.y).flatMap { row in
      range(bounds.low.x, bounds.high.x).map {
        Square(column: $0, row: row, floor: room.floor)
      }
    }
  }
}

extension Site.Room {
  var center: Site.Point? {
    guard !outline.isEmpty else { return nil }
    let sum = outline.reduce(Site.Point(0, 0)) { Site.Point($0.x + $1.x, $0.y + $1.y) }
    return Site.Point(sum.x / Double(outline.count), sum.y / Double(outline.count))
  }

  fileprivate var bounds: (low: Site.Point, high: Site.Point)? {
    guard let first = outline.first else { return nil }
    return outline.reduce((low: first, high: first)) {
      (
        Site.Point(min($0.low.x, $1.x), min($0.low.y, $1.y)),
        Site.Point(max($0.high.x, $1.x), max($0.high.y, $1.y))
      )
    }
  }
}
