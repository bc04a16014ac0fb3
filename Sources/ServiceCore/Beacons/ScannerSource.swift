import Scanning

/// A scanner as the source of the beacon service.
final class ScannerSource: ServiceSource {
  struct Demand: Sendable, Codable {
    var scan: ScanDemand
    /// When the service has something to do, unless sightings come before.
    var deadline: MonotonicTime?
  }

  struct Input: Sendable {
    var scan: ScanDemand
    var sightings: [Sighting]
    /// The number of sightings that were processed.
    var processed = 0
    var progress: ScanProgress
  }

  let scanner: any Scanner

  init(_ scanner: any Scanner) { self.scanner = scanner }

  var name: String { scanner.name }
  var isRecorded: Bool { scanner.isRecorded }
  var availability: ScannerAvailability { scanner.availability }

  func receive(_ demand: Demand, reusing used: consuming Input?) throws -> (
    input: Input, isOver: Bool
  ) {
    var sightings: [Sighting] = []
    if var used {
      swap(&sightings, &used.sightings)
    }
    let progress = try scanner.receive(
      for: demand.scan, until: demand.deadline, into: &sightings)
    return (
      Input(scan: demand.scan, sightings: sightings, progress: progress), progress.isOver
    )
  }

  func wake() { scanner.wake() }

  func rest() { scanner.rest() }
}
