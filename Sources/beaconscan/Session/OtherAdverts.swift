import CaptureFiles
import Records
import Scanning

extension SourceOptions {
  /// Reports what was received instead if no iBeacon was, and how to list it.
  func reportOthers(_ counts: ScanCounts, _ output: OutputOptions) {
    guard !output.quiet, counts.sightings == 0, counts.packets > 0 else { return }
    guard counts.reports > 0 else {
      return printError(
        "beaconscan: no iBeacon: none of \(counted(counts.packets, "packet")) has an advert")
    }
    let list = isLive ? nil : recordings.otherAdverts()
    let kinds = list.flatMap { $0.isEmpty ? nil : ": \($0.joined(separator: ", "))" } ?? ""
    printError(
      "beaconscan: no iBeacon, but \(counted(counts.reports, "other advert"))\(kinds); list their "
        + "senders with beaconscan scan --all")
  }
}

extension RecordingOptions {
  private static let shownKinds = 5

  /// Returns the most frequent kinds of adverts, or `nil` if the recordings cannot be read again.
  fileprivate func otherAdverts() -> [String]? {
    guard !replay.contains("-"),
      let scanner = try? ReplayScanner(paths: replay, duration: nanoseconds),
      scanner.statuses.allSatisfy({ $0.size != nil })
    else { return nil }
    let queue = AdvertQueue()
    scanner.tap(queue.tap)
    var census = AdvertiserCensus()
    var sightings: [Sighting] = []
    while !Interrupt.isRequested {
      let progress = try? scanner.receive(for: .ranging, until: nil, into: &sightings)
      for advert in queue.remove() { census.receive(advert) }
      if progress?.isOver ?? true { break }
    }
    var kinds: [String: Int] = [:]
    for advertiser in census.advertisers {
      if let kind = advertiser.kind { kinds[kind, default: 0] += advertiser.count }
    }
    let shown = kinds.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(Self.shownKinds)
    let others = census.reports - shown.reduce(0) { $0 + $1.value }
    return shown.map { "\($0.value) of \($0.key)" }
      + (others > 0 && !shown.isEmpty ? ["\(others) of other kinds"] : [])
  }
}
