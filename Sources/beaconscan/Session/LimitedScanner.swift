import Scanning
import Synchronization

/// A scanner that ends after a time on its own clock.
final class LimitedScanner: Scanner {
  private let scanner: any Scanner
  private let duration: Int64
  private let began = Mutex<MonotonicTime?>(nil)

  init(_ scanner: any Scanner, duration: Int64) {
    self.scanner = scanner
    self.duration = duration
  }

  var name: String { scanner.name }
  var isRecorded: Bool { scanner.isRecorded }
  var availability: ScannerAvailability { scanner.availability }
  var counts: ScanCounts { scanner.counts }

  func receive(
    for demand: ScanDemand, until deadline: MonotonicTime?, into sightings: inout [Sighting]
  ) throws -> ScanProgress {
    let end = began.withLock { $0 }?.advanced(by: duration)
    var progress = try scanner.receive(
      for: demand, until: end.map { min($0, deadline ?? $0) } ?? deadline, into: &sightings)
    let first = began.withLock { began in
      began = began ?? progress.began
      return began
    }
    guard let limit = first?.advanced(by: duration), let reached = progress.reached,
      reached >= limit
    else { return progress }
    while let last = sightings.last, last.time >= limit { sightings.removeLast() }
    progress.reached = limit
    progress.isOver = true
    progress.health.removeAll { $0.time >= limit }
    return progress
  }

  func wake() { scanner.wake() }
  func rest() { scanner.rest() }
}
