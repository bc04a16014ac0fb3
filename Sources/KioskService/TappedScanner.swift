import Scanning

/// A scanner whose sightings a function gets too, when they are received.
final class TappedScanner: Scanner {
  private let scanner: any Scanner
  private let tap: @Sendable ([Sighting]) -> Void

  init(_ scanner: any Scanner, _ tap: @escaping @Sendable ([Sighting]) -> Void) {
    self.scanner = scanner
    self.tap = tap
  }

  var name: String { scanner.name }
  var isRecorded: Bool { scanner.isRecorded }
  var availability: ScannerAvailability { scanner.availability }
  var knownAvailability: ScannerAvailability? { scanner.knownAvailability }
  var reportsOnlyChanges: Bool { scanner.reportsOnlyChanges }
  var counts: ScanCounts { scanner.counts }

  func receive(
    for demand: ScanDemand, until deadline: MonotonicTime?, into sightings: inout [Sighting]
  ) throws -> ScanProgress {
    let progress = try scanner.receive(for: demand, until: deadline, into: &sightings)
    if !sightings.isEmpty { tap(sightings) }
    return progress
  }

  func wake() { scanner.wake() }
  func rest() { scanner.rest() }
}
