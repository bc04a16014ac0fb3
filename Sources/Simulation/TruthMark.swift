import Advertising

/// A change of a beacon's true state, or a record of its position.
struct TruthMark {
  enum Kind: Equatable {
    case enter, exit, zone(Zone), position
  }

  enum Zone: String, CaseIterable {
    case immediate, near, far
  }

  let beacon: BeaconIdentity
  let time: Int64
  let kind: Kind
  var distance: Double?

  /// Returns the marks of a beacon until `end`, in microseconds: first entries and exits, where the
  /// signal crosses `sensitivity` (dBm), then zones.
  static func marks(
    of beacon: BeaconIdentity, on line: Line, _ loss: PathLoss, sensitivity: Double, end: Int64
  ) -> [TruthMark] {
    let limit = line.isDistance ? loss.distance(of: sensitivity) : sensitivity
    func isReceivable(_ value: Double) -> Bool { line.isDistance ? value <= limit : value >= limit }
    var marks: [TruthMark] = []
    var isInside = false
    for segment in line.segments {
      if !isInside, isReceivable(segment.first) {
        marks.append(TruthMark(beacon: beacon, time: segment.from, kind: .enter))
        isInside = true
      }
      guard isInside != isReceivable(segment.last) else { continue }
      let time = crossing(of: limit, in: segment)
      marks.append(TruthMark(beacon: beacon, time: time, kind: isInside ? .exit : .enter))
      isInside.toggle()
    }
    let last = line.span.upperBound
    if isInside, last < end { marks.append(TruthMark(beacon: beacon, time: last, kind: .exit)) }
    return line.isDistance ? marks + zones(of: beacon, on: line) : marks
  }

  private static func zones(of beacon: BeaconIdentity, on line: Line) -> [TruthMark] {
    var marks: [TruthMark] = []
    var zone: Zone?
    func enter(_ next: Zone, at time: Int64, _ distance: Double) {
      marks.append(TruthMark(beacon: beacon, time: time, kind: .zone(next), distance: distance))
      zone = next
    }
    for segment in line.segments {
      if zone == nil {
        let first: Zone = segment.first < 0.5 ? .immediate : segment.first < 4 ? .near : .far
        enter(first, at: segment.from, segment.first)
      }
      while let current = zone, let (next, limit) = current.next(towards: segment.last) {
        // The first segment may start between the limits, already in the next zone.
        let isBeyond = (segment.first > limit) == (segment.last > limit)
        let time = isBeyond ? segment.from : crossing(of: limit, in: segment)
        enter(next, at: time, isBeyond ? segment.first : limit)
      }
    }
    return marks
  }

  private static func crossing(
    of limit: Double, in segment: (from: Int64, to: Int64, first: Double, last: Double)
  ) -> Int64 {
    guard segment.first != segment.last else { return segment.from }
    let share = (limit - segment.first) / (segment.last - segment.first)
    let length = Double(segment.to - segment.from)
    return segment.from + Int64((min(max(share, 0), 1) * length).rounded())
  }
}

extension TruthMark.Zone {
  fileprivate func next(towards distance: Double) -> (zone: Self, limit: Double)? {
    switch self {
    case .immediate: distance > 0.7 ? (.near, 0.7) : nil
    case .near: distance < 0.5 ? (.immediate, 0.5) : distance > 5 ? (.far, 5) : nil
    case .far: distance < 4 ? (.near, 4) : nil
    }
  }
}
