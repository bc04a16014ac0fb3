import ArgumentParser
import Frontends
import Records
import Scanning
import ServiceCore
import Storage
import SystemPackage

struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Show what beaconscan serve stored: events, stays, and the presence of beacons.",
    discussion: """
      Without other options it lists the events, the oldest first: regions and circles that were \
      entered and left, states, visits, and changes of the reception. JSON has the records as they \
      were stored, which are those of monitor. The service may write meanwhile. It keeps 90 days \
      and 64 MiB by default; see docs/history.md.

      EXAMPLES
        beaconscan history --since 24h
        beaconscan history --region lobby --last 20 --format json
        beaconscan history --dwell --since 7d
        beaconscan history --presence --since '2026-01-15 09:00' --format csv
        beaconscan history --plot --since 24h
      """)

  @Option(
    .file(
      "database", "The history's file.",
      shown:
        "history.sqlite in $STATE_DIRECTORY, /var/lib/beaconscan or ~/.local/state/beaconscan",
      endings: ["sqlite"]))
  var database: String?

  @Option(
    .text(
      "region", "Only what happened to this region.", "name",
      valid: "write the name of a region such as lobby"))
  var region: String?

  @Option(
    Setting(
      "since",
      "Only from this time on, such as '2026-01-15 09:00', 2026-01-15T08:00:00Z, or how long ago, such as 24h.",
      "time", details: "A time without an offset is local, or UTC with --utc.",
      valid: PastTime.valid, read: PastTime.init(argument:)))
  var since: PastTime?

  @Option(
    Setting(
      "until", "Only before this time.", "time", valid: PastTime.valid,
      read: PastTime.init(argument:)))
  var until: PastTime?

  @Option(.whole("last", "Only the newest so many events.", in: 1 ... .max)) var last: Int?
  @Flag(.flag("dwell", "Show how long the stays in each region were.")) var dwell: Bool
  @Flag(.flag("presence", "Show the presence of each beacon in each hour.")) var presence: Bool
  @Flag(.flag("plot", "Draw when each region was occupied.")) var plot: Bool

  @OptionGroup(title: "Input") var configuration: ConfigurationOption
  @OptionGroup(title: "Output") var form: FormatOptions
  @OptionGroup(title: "Output") var clock: ZoneOption

  mutating func validate() throws {
    let views = [("--dwell", dwell), ("--presence", presence), ("--plot", plot)].filter(\.1)
    if views.count > 1 {
      throw ValidationError(
        "\(views[0].0) and \(views[1].0) show different things; give one of them.")
    }
    if last != nil, let view = views.first {
      throw ValidationError("--last is for the list of events; leave it or \(view.0) out.")
    }
    if presence, region != nil {
      throw ValidationError(
        "--presence is of beacons, and --region is for events; leave one of them out.")
    }
    if plot, form.format != .table {
      throw ValidationError("--plot is for people; leave --format \(form.format.rawValue) out.")
    }
  }

  func run() throws {
    let out = StandardOutput()
    out.apply(form, clock.zone)
    do {
      try run(History(path: database), to: out, now: .now)
    } catch let error as StorageError {
      throw CommandError(history: error)
    }
    try out.flush()
  }

  func run(_ history: History, to out: StandardOutput, now: WallClockTime) throws {
    let zone = clock.zone
    let (first, end) = (since?.time(in: zone, now: now), until?.time(in: zone, now: now))
    if let first, let end, first >= end {
      throw CommandError(.usage, FilterOptions.contraryTimes)
    }
    let range = EntryQuery(
      since: first?.microseconds, until: end?.microseconds, region: region, limit: last,
      leavesNewest: last != nil)
    let isEmpty: Bool
    if presence {
      let rows = try history.presence(range)
      try out.write(rows, HourlyPresence.record, form.format)
      isEmpty = rows.isEmpty
    } else if dwell {
      // JSON and CSV use UTC.
      let rows = try history.stays(range, in: form.format == .table ? zone : .utc)
      try out.write(rows, RegionStays.record, form.format)
      isEmpty = rows.isEmpty
    } else if plot {
      // A relative window ends now, any other with the last event.
      let isWindow = since?.isRelative == true && end == nil
      let plot = try history.plot(range, now: isWindow ? now : nil)
      let drawing = plot?.drawing(width: out.width ?? 80, zone: zone)
      if let drawing {
        try out.write(lines: drawing.lines)
        try out.write(sentence: drawing.legend, indent: 0)
      }
      isEmpty = drawing == nil
    } else {
      isEmpty = try write(history, range, to: out) == 0
    }
    if isEmpty { printError("beaconscan: \(try history.emptiness(range))") }
  }

  private func write(
    _ history: History, _ range: EntryQuery, to out: StandardOutput
  ) throws -> Int {
    let row = HistoryRow.record(regionWidth: try history.regionWidth)
    if form.format == .csv { try out.writeHeader(row, .csv) }
    var count = 0
    try history.forEachEntry(range) { entry in
      count += 1
      switch form.format {
      case .json:
        try out.write { bytes in
          bytes += entry.payload
          bytes.append(UInt8(ascii: "\n"))
        }
      case .csv, .table: try out.writeLine(HistoryRow(entry, in: clock.zone), row, form.format)
      }
    }
    return count
  }
}

enum PastTime {
  static let valid = Inputs.validTime + ", or how long ago such as 24h or 7d"

  case moment(WrittenTime)
  case ago(Seconds)

  init?(argument: String) {
    if let moment = WrittenTime(argument) {
      self = .moment(moment)
    } else if let last = argument.last, last.isLetter, let ago = Seconds(argument: argument),
      ago.value >= 0, ago.value < 1e9
    {
      self = .ago(ago)
    } else {
      return nil
    }
  }

  var isRelative: Bool { if case .ago = self { true } else { false } }

  func time(in zone: ClockZone, now: WallClockTime) -> WallClockTime {
    switch self {
    case .moment(let moment): moment.time(in: zone)
    case .ago(let ago): now.advanced(by: -Int64(ago.value * 1e9))
    }
  }
}
