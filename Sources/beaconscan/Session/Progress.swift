import CaptureFiles
import Records
import Scanning

/// The progress of a long replay: share, rate, and time left.
struct Progress: Sendable {
  private let replay: ReplayScanner
  private let total: Int
  private let line: StatusLine

  /// Returns `nil` if no progress is wanted or possible.
  init?(of replay: ReplayScanner, isWanted: Bool) {
    let sizes = replay.statuses.map(\.size)
    guard isWanted, replay.speed == .max, !replay.follows, !sizes.contains(nil),
      let line = StatusLine()
    else { return nil }
    self.replay = replay
    self.line = line
    total = max(1, sizes.compactMap(\.self).reduce(0, +))
  }

  func update() {
    line.show {
      let seconds = line.elapsed
      let read = replay.statuses.reduce(0) { $0 + $1.bytesRead }
      let share = min(1, Double(read) / Double(total))
      let left = share > 0 ? seconds / share - seconds : 0
      return "\(fixed(share * 100, 0)) %  \(replay.counts.packets) packets  "
        + "\(fixed(Double(read) / seconds / 1e6, 0)) MB/s  \(fixed(left, 0)) s left"
    }
  }

  func end() { line.end() }
}
