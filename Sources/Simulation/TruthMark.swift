import Advertising

/// A moment at which a beacon's truth changes.
struct TruthMark {
  enum Kind: Equatable {
    case enter
    case exit
    case zone(Zone, distance: Double)
  }

  enum Zone: String, CaseIterable {
    case immediate, near, far
  }

  /// Microseconds after the start.
  let time: Int64
  let kind: Kind
  let beacon: BeaconIdentity

  /// All the marks of a beacon, in the order of time.
  ///
  /// - Parameters:
  ///   - beacon: Which beacon.
  ///   - line: What it follows.
  ///   - loss: How its signal falls.
  ///   - sensitivity: The weakest level in dBm that is received.
  ///   - end: When the recording ends, in microseconds.
  /// - Returns: The marks.
  static func marks(
    of beacon: BeaconIdentity, on line: Line, _ loss: PathLoss, sensitivity: Double, end: Int64
  ) -> [TruthMark] {
    var marks: [(time: Int64, kind: Kind)] = presence(
      on: line, loss, sensitivity: sensitivity, end: end)
    if line.isDistance { marks += zones(on: line) }
    // A stable order: what happens at the same time stays enter, exit, zone.
    return marks.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
      .map { TruthMark(time: $0.element.time, kind: $0.element.kind, beacon: beacon) }
  }

  private static func presence(on line: Line, _ loss: PathLoss, sensitivity: Double, end: Int64)
    -> [(time: Int64, kind: Kind)]
  {
    let limit = line.isDistance ? loss.distance(of: sensitivity) : sensitivity
    func isReceivable(_ value: Double) -> Bool { line.isDistance ? value <= limit : value >= limit }
    var marks: [(time: Int64, kind: Kind)] = []
    var isInside = false
    for segment in line.segments {
      if !isInside, isReceivable(segment.first) {
        marks.append((segment.from, .enter))
        isInside = true
      }
      guard isInside != isReceivable(segment.last) else { continue }
      marks.append((crossing(of: limit, in: segment), isInside ? .exit : .enter))
      isInside.toggle()
    }
    if isInside, line.span.upperBound < end { marks.append((line.span.upperBound, .exit)) }
    return marks
  }

  /// Zones with hysteresis: immediate below 0.5 m until above 0.7 m, near below 4 m until above 5 m.
  private static func zones(on line: Line) -> [(time: Int64, kind: Kind)] {
    var marks: [(time: Int64, kind: Kind)] = []
    var zone: Zone?
    for segment in line.segments {
      if zone == nil {
        let first: Zone =
          segment.first < 0.5 ? .immediate : segment.first < 4 ? .near : .far
        zone = first
        marks.append((segment.from, .zone(first, distance: segment.first)))
      }
      while let current = zone, let next = current.next(towards: segment.last) {
        // The first segment may begin between the limits, in the next zone already.
        let isBeyond = (segment.first > next.limit) == (segment.last > next.limit)
        let time = isBeyond ? segment.from : crossing(of: next.limit, in: segment)
        marks.append((time, .zone(next.zone, distance: isBeyond ? segment.first : next.limit)))
        zone = next.zone
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
  /// The zone that comes next on the way to a distance in meters, and the limit crossed.
  fileprivate func next(towards distance: Double) -> (zone: Self, limit: Double)? {
    switch self {
    case .immediate: distance > 0.7 ? (.near, 0.7) : nil
    case .near: distance < 0.5 ? (.immediate, 0.5) : distance > 5 ? (.far, 5) : nil
    case .far: distance < 4 ? (.near, 4) : nil
    }
  }
}
