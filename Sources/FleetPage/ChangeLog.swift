import Advertising
import DequeModule
import FleetPicture
import Fusion
import Scanning

/// A change of room without what only readers of events need: 96 bytes.
struct Move: Hashable, Sendable {
  var second: Int64
  var beacon: BeaconIdentity
  var former: Whereabouts
  var place: Whereabouts
  var probability: Float

  /// Creates the move of a change; `nil` if the change names no second or beacon.
  init?(_ change: RoomChange) {
    guard let second = change.second, RoomChange.seconds.contains(second),
      let beacon = BeaconConstraint(change.beacon)?.identity
    else { return nil }
    self.second = second
    self.beacon = beacon
    former = Whereabouts(room: change.former, isOutside: change.formerIsOutside)
    place = Whereabouts(room: change.room, isOutside: change.isOutside)
    probability = Float(change.probability)
  }
}

extension Move {
  /// A move before a second as the place of the beacon in that second.
  func clamped(to second: Int64) -> Move {
    guard self.second < second else { return self }
    var move = self
    move.second = second
    move.former = place
    return move
  }
}

extension Whereabouts {
  init(room: String?, isOutside: Bool) {
    self = room.map { .room($0) } ?? (isOutside ? .outside : .unknown)
  }

  var room: String? { if case .room(let name) = self { name } else { nil } }
}

/// The last moves in a site, in the order of their seconds.
struct ChangeLog: Sendable {
  private var moves = Deque<Move>()
  /// One text for each room, which all moves share.
  private var names: Set<String> = []
  private static let maximumNames = 1024

  var count: Int { moves.count }
  var oldest: Int64? { moves.first?.second }
  var newest: Int64? { moves.last?.second }

  /// Adds a move. Returns `false` for one that is there already: workers may publish twice.
  mutating func add(_ move: Move) -> Bool {
    var move = move
    move.former = shared(move.former)
    move.place = shared(move.place)
    var index = moves.endIndex
    while index > 0, moves[index - 1].second >= move.second {
      if moves[index - 1].second == move.second, moves[index - 1].beacon == move.beacon {
        return false
      }
      index -= 1
    }
    moves.insert(move, at: index)
    return true
  }

  private mutating func shared(_ place: Whereabouts) -> Whereabouts {
    guard let room = place.room else { return place }
    if names.count >= Self.maximumNames { names = [] }
    return .room(names.insert(room).memberAfterInsert)
  }

  mutating func removeOldest(_ count: Int) { moves.removeFirst(min(count, moves.count)) }

  /// Removes the moves before a second, and returns their number.
  mutating func remove(before second: Int64) -> Int {
    let count = firstIndex(from: second)
    moves.removeFirst(count)
    return count
  }

  /// The moves from a second up to another one, of all beacons or of one.
  func moves(from: Int64, to: Int64, of beacon: BeaconIdentity? = nil) -> [Move] {
    let part = moves[firstIndex(from: from)..<max(firstIndex(from: from), firstIndex(from: to))]
    return beacon.map { beacon in part.filter { $0.beacon == beacon } } ?? Array(part)
  }

  private func firstIndex(from second: Int64) -> Int {
    var (low, high) = (0, moves.count)
    while low < high {
      let middle = (low + high) / 2
      if moves[middle].second < second { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
