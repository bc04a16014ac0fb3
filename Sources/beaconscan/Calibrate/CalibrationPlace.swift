import Ranging
import Records

/// A place of a calibration and its recording: `2`, `edge`, `2=near.pcapng`, `2=walk.pcapng@30-60`.
struct CalibrationPlace {
  /// A beacon's position: a distance in meters, or relative to the boundary of a region.
  enum Position: Hashable {
    case distance(Double)
    case edge, inside, outside

    static let boundary = [Position.edge, .inside, .outside]

    init?(_ text: String) {
      switch text {
      case "edge": self = .edge
      case "inside": self = .inside
      case "outside": self = .outside
      default:
        let digits = text.hasSuffix("m") ? String(text.dropLast()) : text
        guard let distance = Double(digits), distance >= 0.1, distance <= 100 else { return nil }
        self = .distance(distance)
      }
    }

    var name: String {
      switch self {
      case .distance(let distance): "\(decimal(distance, 2)) m"
      case .edge: "edge"
      case .inside: "inside"
      case .outside: "outside"
      }
    }

    var instruction: String {
      switch self {
      case .distance: "put the beacon \(name) from the receiver, with nothing between them"
      case .edge: "stand with the beacon where the region should begin"
      case .inside: "stand with the beacon well inside the region"
      case .outside: "stand with the beacon outside, as near as somebody may pass"
      }
    }
  }

  var position: Position
  var recording: String?
  /// The seconds of the recording that count, from its first packet.
  var seconds = 0...Double.infinity

  init?(argument: String) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard let position = Position(String(parts[0])) else { return nil }
    self.position = position
    guard parts.count == 2 else { return }
    guard !parts[1].isEmpty else { return nil }
    recording = String(parts[1])
    // An @ may be part of the file's name.
    guard let at = parts[1].lastIndex(of: "@") else { return }
    let numbers = parts[1][parts[1].index(after: at)...].split(
      separator: "-", omittingEmptySubsequences: false)
    guard numbers.count == 2, let from = Double(numbers[0]), let to = Double(numbers[1]) else {
      return
    }
    guard from >= 0, to > from, at > parts[1].startIndex else { return nil }
    recording = String(parts[1][..<at])
    seconds = from...to
  }
}
