import Fusion

/// A time in which a beacon had one place.
struct Stay: Encodable, Hashable {
  /// The room, or none outside and where it is not known.
  var room: String?
  var isOutside: Bool
  /// In RFC 3339; none for a beginning before the time that was asked for.
  var from: String?
  /// In RFC 3339; none for a stay that goes on.
  var to: String?
  /// The probability of the place at the beginning.
  var probability: Double?

  /// The stays of a beacon, from its moves in order and its place now.
  static func stays(_ moves: [Move], now: (place: Whereabouts, since: Int64)?) -> [Stay] {
    guard let first = moves.first else {
      guard let (place, since) = now else { return [] }
      return [Stay(place, from: Seconds.text(since))]
    }
    // A move that only says where the beacon was at the beginning has no stay before it.
    let isBeginning = first.former == first.place
    let end = isBeginning ? moves.dropFirst().first?.second : first.second
    var stays = [Stay(first.former, to: end.map(Seconds.text))]
    for (index, move) in moves.enumerated().dropFirst(isBeginning ? 1 : 0) {
      let next = index + 1 < moves.count ? moves[index + 1] : nil
      stays.append(
        Stay(
          move.place, from: Seconds.text(move.second), to: next.map { Seconds.text($0.second) },
          probability: Double((move.probability * 1000).rounded()) / 1000))
    }
    return stays
  }

  private init(
    _ place: Whereabouts, from: String? = nil, to: String? = nil, probability: Double? = nil
  ) {
    room = place.room
    isOutside = place == .outside
    self.from = from
    self.to = to
    self.probability = probability
  }
}
