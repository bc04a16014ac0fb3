import CaptureFiles
import Glibc
import Scanning
import SystemPackage

/// How far a long replay has come, on a terminal's standard error: share, rate, time left.
final class Progress {
  private let replay: CaptureReplay
  private let total: Int
  private let began = Pacer.monotonic()
  private var shownAt: Int64 = 0
  private var isShown = false

  /// Nothing is shown in the first half second, and then five times a second.
  private static let patience: Int64 = 500_000_000
  private static let period: Int64 = 200_000_000

  /// A progress line, where there is a terminal to show it on and a size to measure by.
  static func shown(for replay: CaptureReplay, quiet: Bool) -> Progress? {
    let sizes = replay.statuses.map(\.size)
    guard !quiet, isatty(STDERR_FILENO) == 1, !sizes.contains(nil) else { return nil }
    return Progress(replay, total: sizes.compactMap(\.self).reduce(0, +))
  }

  private init(_ replay: CaptureReplay, total: Int) {
    self.replay = replay
    self.total = total
  }

  /// Shows how far it is, if it is time to.
  func update() {
    let now = Pacer.monotonic()
    guard now - began > Self.patience, now - shownAt > Self.period else { return }
    shownAt = now
    let seconds = Double(now - began) / 1e9
    let read = replay.statuses.reduce(0) { $0 + $1.bytesRead }
    let share = min(1, Double(read) / Double(max(1, total)))
    let left = share > 0 ? seconds / share - seconds : 0
    let rate = Double(read) / seconds / 1e6
    let packets = replay.counts.packets
    isShown = true
    write(
      "\r\u{1B}[K\(fixed(share * 100, 0)) %  \(packets) packets  \(fixed(rate, 0)) MB/s  "
        + "\(fixed(left, 0)) s left")
  }

  /// Takes the line away.
  func clear() {
    guard isShown else { return }
    isShown = false
    write("\r\u{1B}[K")
  }

  private func write(_ text: String) {
    _ = try? FileDescriptor.standardError.writeAll(text.utf8)
  }
}
