import CaptureFiles
import Records
import Scanning

/// How far a long replay has come: share, rate, time left.
struct Progress: Sendable {
  private let replay: ReplayScanner
  private let total: Int
  private let line: StatusLine

  /// `nil` where nothing is to be shown: it is not wanted, the replay waits for its own time or for more to be
  /// written, there is no terminal, or no size to measure by.
  init?(of replay: ReplayScanner, isWanted: Bool) {
    let sizes = replay.statuses.map(\.size)
    guard isWanted, replay.speed == .max, !replay.follows, !sizes.contains(nil),
      let line = StatusLine()
    else { return nil }
    self.replay = replay
    self.line = line
    total = max(1, sizes.compactMap(\.self).reduce(0, +))
  }

  /// Shows how far it is, if it is time to.
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
