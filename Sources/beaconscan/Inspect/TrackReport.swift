import CaptureFiles
import Frontends
import LocationSources
import Positioning
import Records
import Scanning

struct TrackReport {
  var summary: TrackSummary
  var format: TrackFormat?
  var bytes = 0
  private var first: Fix?
  private var last: Fix?
  /// The sum of the distances between fixes in meters, including jitter.
  var length = 0.0
  private var latitudes: (least: Double, greatest: Double)?
  /// In degrees, continued beyond ±180 for a track across the antimeridian.
  private var longitudes: (least: Double, greatest: Double)?
  private var longitude = 0.0

  /// Reads a track to its end or to an interrupt, and returns the report and the track's fault.
  static func read(_ path: String, duration: Int64?) throws -> (TrackReport, CommandError?) {
    let reader = try Interrupt.endingAtOnce { try TrackReader(path: path, duration: duration) }
    var report = TrackReport(summary: TrackSummary(file: reader.name, counts: TrackCounts()))
    var failure: CommandError?
    var inputs: [PositionInput] = []
    var isOver = false
    while !isOver, !Interrupt.isRequested {
      inputs.removeAll(keepingCapacity: true)
      do throws(TrackError) {
        switch try reader.read(into: &inputs) {
        case .more: break
        case .caughtUp: reader.wait()
        case .end: isOver = true
        }
      } catch {
        failure = CommandError(error)
        isOver = true
      }
      for case .fix(let fix) in inputs { report.add(fix) }
    }
    report.summary.counts = reader.counts
    report.format = reader.format
    report.bytes = reader.bytesRead
    return (report, failure)
  }

  private mutating func add(_ fix: Fix) {
    let place = fix.place
    if let last {
      length += last.place.distance(to: place)
      longitude += (place.longitude - last.place.longitude).remainder(dividingBy: 360)
    } else {
      longitude = place.longitude
    }
    first = first ?? fix
    last = fix
    latitudes =
      latitudes.map { (min($0.least, place.latitude), max($0.greatest, place.latitude)) }
      ?? (place.latitude, place.latitude)
    longitudes =
      longitudes.map { (min($0.least, longitude), max($0.greatest, longitude)) }
      ?? (longitude, longitude)
  }

  private var corners: (southWest: Coordinate, northEast: Coordinate)? {
    guard let latitudes, let longitudes else { return nil }
    // Around a pole or the earth, the box has every longitude.
    let isWhole = longitudes.greatest - longitudes.least >= 360
    guard
      let southWest = Coordinate(
        latitude: latitudes.least, longitude: isWhole ? -180 : longitudes.least),
      let northEast = Coordinate(
        latitude: latitudes.greatest, longitude: isWhole ? 179.9999999 : longitudes.greatest)
    else { return nil }
    return (southWest, northEast)
  }

  static let record = RecordType<TrackReport>(
    "track", TrackSummary.fields { $0.summary },
    [
      Field("format", .one(of: TrackFormat.allCases.map(\.name)).orNull) { $0.format?.name },
      Field("bytes", .count) { $0.bytes },
      Field("from", .timeOrNull) { $0.first?.timestamp },
      Field("to", .timeOrNull) { $0.last?.timestamp },
      Field("southWest", corner, isNullable: true) { $0.corners?.southWest },
      Field("northEast", corner, isNullable: true) { $0.corners?.northEast },
      Field("seconds", .number(0...).orNull, decimals: 3) { report in
        report.first.flatMap { first in report.last?.time.seconds(since: first.time) }
      },
      Field("length", .number(0...), decimals: 3) { $0.length },
    ])

  private static let corner = RecordType<Coordinate>(
    nil, Field<Coordinate>.place(isNullable: false) { $0 })

  func write(to output: StandardOutput) throws {
    try output.write(
      sentence: "\(summary.file): \(format?.name ?? "nothing read"), \(summary.sentence)")
    for remark in summary.remarks() { try output.write(sentence: remark, after: "  ") }
    guard let first, let last, let corners else { return }
    try output.write(
      sentence: "from \(output.zone.text(first.timestamp)) to \(output.zone.text(last.timestamp)), "
        + "\(fixed(last.time.seconds(since: first.time), 0)) s", after: "  ")
    let (a, b) = (corners.southWest, corners.northEast)
    try output.write(
      sentence: "within \(decimal(a.latitude, 6)),\(decimal(a.longitude, 6)) and "
        + "\(decimal(b.latitude, 6)),\(decimal(b.longitude, 6)); "
        + "\(fixed(length / 1000, 3)) km from fix to fix", after: "  ")
  }
}
