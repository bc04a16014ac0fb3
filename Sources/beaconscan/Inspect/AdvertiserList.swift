import Records
import Scanning

final class AdvertiserList {
  private let filter: AdvertFilter
  private let options: FilterOptions
  private let queue = AdvertQueue()
  private(set) var census = AdvertiserCensus()
  private(set) var received = 0

  init(_ options: FilterOptions, in zone: ClockZone) {
    self.options = options
    filter = options.filter(in: zone)
  }

  var tap: ReportTap { queue.tap }

  func update(until end: MonotonicTime? = nil) {
    for advert in queue.remove(until: end) {
      received += 1
      if filter.includes(advert.rssi, at: advert.wallTime) { census.receive(advert) }
    }
  }

  var noMatch: String? { beaconscan.noMatch(census.reports, of: received, "adverts") }

  func write(_ format: OutputFormat, to output: StandardOutput) throws {
    if format != .table || census.count > 0 {
      let rows = options.sort?.sorted(census.advertisers) ?? census.advertisers
      try output.write(
        Array(rows.prefix(options.top ?? .max)), AdvertiserStatistics.record, format)
    }
    if format == .table, census.evictions > 0 {
      try output.write("only the latest advertisers are kept; \(census.evictions) made room\n")
    }
  }
}

final class LiveAdvertiserWriter: ResultWriter {
  private let list: AdvertiserList
  private let zone: ClockZone
  private let screen: LiveScreen
  private let top: Int
  private var time: WallClockTime?
  private var trouble: String?

  init(output: StandardOutput, list: AdvertiserList, _ options: FilterOptions) {
    self.list = list
    zone = output.zone
    top = options.top ?? .max
    screen = LiveScreen(output, order: options.sort)
  }

  var isScreen: Bool { true }

  func write(trouble: String?, at time: WallClockTime) throws {
    self.trouble = trouble
    self.time = time
    try draw()
  }

  func draw(at time: WallClockTime) throws {
    self.time = time
    try draw()
  }

  private func draw() throws {
    let (advertisers, count) = (list.census.advertisers, list.census.count)
    let (zone, trouble, time, hints, top) = (zone, trouble, time, screen.hints, top)
    try screen.draw { size, order in
      let title = String.title(
        counted(count, "advertiser"), at: time, zone, hints, width: size.columns)
      let lines = [title] + (trouble?.wrapped(to: size.columns) ?? [])
      let rows = Array((order?.sorted(advertisers) ?? advertisers).prefix(top))
      return lines
        + Table(AdvertiserStatistics.record.columns, zone, width: size.columns)
        .lines(rows, height: size.rows - lines.count)
    }
  }
}
