/// An error of a region or rule that cannot be monitored.
public enum RegionError: Error, Sendable, Hashable, Codable, CustomStringConvertible {
  /// A fixed exit timeout, in seconds.
  case exitTimeout(Double)
  /// The wanted number of false exits a day.
  case falseExits(Double)
  /// The longest adaptive exit timeout, in seconds.
  case ceiling(Double)
  /// The levels of a signal gate, in dBm.
  case signal(enter: Double, exit: Double)
  /// The levels of a distance gate, in meters.
  case distance(enter: Double, exit: Double)
  /// The excess of a gate, in dB · s.
  case excess(Double)
  /// The number of sightings needed to enter, of the last ones.
  case count(needed: Int, last: Int)
  /// The dwell, in seconds.
  case dwell(Double)
  /// More regions than the limit.
  case tooMany(limit: Int)

  /// One sentence with the problem, the number, and the valid range.
  public var description: String {
    switch self {
    case .exitTimeout(let seconds):
      "the silence before an exit (\(seconds) s) must be more than 0 and at most 604800 s"
    case .falseExits(let rate): "false exits a day (\(rate)) must be from 0.000001 to 86400"
    case .ceiling(let seconds):
      "the longest silence before an exit (\(seconds) s) must be from 2 to 604800 s"
    case .signal(let enter, let exit):
      "a region is left at a weaker signal than it is entered at, both from -200 to 100 dBm:"
        + " enter \(enter) dBm, exit \(exit) dBm"
    case .distance(let enter, let exit):
      "a region is left at a greater distance than it is entered at, both above 0 and at most"
        + " 1000 m: enter \(enter) m, exit \(exit) m"
    case .excess(let excess):
      "the excess that opens or closes a gate (\(excess) dB s) must be from 0 to 1000"
    case .count(let needed, let last):
      "sightings to enter must be N of the last M with 1 <= N <= M <= 64: \(needed) of \(last)"
    case .dwell(let seconds): "the dwell (\(seconds) s) must be from 0 to 604800 s"
    case .tooMany(let limit): "at most \(limit) regions can be monitored at once"
    }
  }
}
