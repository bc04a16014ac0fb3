import Positioning
import RealModule
import Scanning

/// The combined contents of the sentences of one epoch.
///
/// The position comes from GGA, else GNS, RMC or GLL; altitudes and HDOP from GGA, else GNS (HDOP
/// also GSA); speed, course and date from RMC, else VTG and ZDA. A sentence without a fix (RMC and
/// GLL: status V or mode N, GGA: quality 0, GNS: only N) invalidates the epoch.
struct NMEAEpoch {
  /// Nanoseconds since midnight, UTC; `nil` if the receiver does not know the time.
  var timeOfDay: Int64?
  var date: Int64?
  private var kinds: Set<NMEASentence.Kind> = []
  private(set) var isRefused = false
  /// The position, and the rank of its sentence: 3 for GGA, 2 for GNS, 1 for RMC, 0 for GLL.
  private var place: (coordinate: Coordinate, rank: Int)?
  private var altitude: Double?
  private var separation: Double?
  private var speed: Double?
  private var course: Double?
  private var hdop: Double?
  private var vdop: Double?
  private var isDifferential = false
  /// The highest mode in GSA; 2 means no altitude.
  private var dimensions: Int64?
  /// The standard deviations of latitude, longitude and altitude, from GST, else GBS.
  private var deviations: (north: Double, east: Double, up: Double?)?
  private var heading: (magnetic: Double, rank: Int)?
  private var hasUnknownDeclination = false

  /// The speed, in m/s, below which receivers write noise or an old course: an uncertainty of 0.1
  /// m/s makes the course uncertain by 20°.
  private static let restSpeed = 0.3
  /// The range of a dilution. Receivers write up to 9999.9 if it is unknown.
  private static let dilution = 0.0...10_000
  /// The tolerance of an epoch's time, in nanoseconds, which sentences round to hundredths.
  private static let rounding: Int64 = 10_000_000
  private static let metersPerSecondPerKnot = 1852.0 / 3600

  /// Returns `true` if a sentence fits: its kind is new, and the times agree or one is unknown.
  func accepts(_ kind: NMEASentence.Kind, timeOfDay: Int64?) -> Bool {
    guard let timeOfDay, let own = self.timeOfDay else { return !kinds.contains(kind) }
    return abs(timeOfDay - own) < Self.rounding && !kinds.contains(kind)
  }

  var hasPosition: Bool {
    !kinds.isDisjoint(with: [.gga, .gns, .rmc, .gll])
  }

  var fix: Fix? {
    guard !isRefused, let place = place?.coordinate else { return nil }
    var fix = Fix(
      time: MonotonicTime(nanoseconds: 0), timestamp: WallClockTime(nanoseconds: 0), place: place,
      horizontalAccuracy: horizontalAccuracy ?? Dilution.unknownAccuracy)
    if dimensions != 2 {
      fix.altitude = altitude
      if let altitude, let separation { fix.ellipsoidalAltitude = altitude + separation }
      if altitude != nil {
        fix.verticalAccuracy =
          deviations?.up ?? Dilution.verticalAccuracy(vdop, isDifferential: isDifferential)
      }
    }
    fix.speed = speed
    if let speed, speed >= Self.restSpeed { fix.course = course }
    return fix
  }

  var horizontalAccuracy: Double? {
    if let deviations {
      return Double.hypot(deviations.north, deviations.east) / Double.sqrt(2) * Dilution.radius68
    }
    return hdop.map { Dilution.horizontalAccuracy($0, isDifferential: isDifferential) }
  }

  var magneticHeading: Double? { heading?.magnetic }
  var hasOnlyTrueHeading: Bool { heading == nil && hasUnknownDeclination }

  /// Adds a sentence of this epoch; returns `false`, with nothing changed, if a field is invalid.
  /// `declination` is the track's latest, in degrees clockwise from true north to magnetic north.
  mutating func take(_ sentence: NMEASentence, declination: inout Double?) -> Bool {
    var changed = self
    guard let kind = sentence.kind,
      changed.read(sentence, kind, declination: &declination) != nil
    else { return false }
    changed.kinds.insert(kind)
    self = changed
    return true
  }

  private mutating func read(
    _ sentence: NMEASentence, _ kind: NMEASentence.Kind, declination: inout Double?
  ) -> Void? {
    switch kind {
    case .gga:
      guard let quality = digits(sentence[6]) else { return nil }
      // Receivers may write no satellites but a dilution with their first fix. Dead reckoning,
      // manual positions and simulation (6 to 8) need neither.
      let isPossible =
        quality > 5 || digits(sentence[7]) != 0 || known(sentence[8], 0.01...98.99) != nil
      guard quality != 0, isPossible else { return isRefused = true }
      guard let place = coordinate(sentence, from: 2) else { return nil }
      put(place, rank: 3)
      if quality == 2 || quality == 4 || quality == 5 { isDifferential = true }
      readHeights(sentence, hdop: 8, altitude: 9, separation: 11)
    case .gns:
      let modes = sentence[6]
      guard !modes.isEmpty else { return nil }
      guard modes.contains(where: { $0 != UInt8(ascii: "N") }) else { return isRefused = true }
      guard let place = coordinate(sentence, from: 2) else { return nil }
      put(place, rank: 2)
      if modes.contains(where: { "DRF".utf8.contains($0) }) { isDifferential = true }
      if !kinds.contains(.gga) { readHeights(sentence, hdop: 8, altitude: 9, separation: 10) }
    case .rmc:
      guard let status = sentence.letter(2) else { return nil }
      // D is a nonstandard status for a differential fix.
      let isFix = (status == "A" || status == "D") && sentence.letter(12) != "N"
      if !sentence[9].isEmpty {
        // Without a fix the date may be zeros.
        let date = date(sentence[9])
        guard date != nil || !isFix else { return nil }
        self.date = date ?? self.date
      }
      guard isFix else { return isRefused = true }
      guard let place = coordinate(sentence, from: 3) else { return nil }
      put(place, rank: 1)
      if let knots = known(sentence[7], 0...2000) { speed = knots * Self.metersPerSecondPerKnot }
      if let course = known(sentence[8], -360...720) { self.course = bearing(course) }
      declination = turn(sentence, from: 10) ?? declination
    case .gll:
      // Old versions of the sentence have no status.
      guard sentence.letter(6) ?? "A" == "A", sentence.letter(7) != "N" else {
        return isRefused = true
      }
      guard let place = coordinate(sentence, from: 1) else { return nil }
      put(place, rank: 0)
    case .vtg:
      guard !kinds.contains(.rmc) else { return () }
      self.course = known(sentence[1], -360...720).flatMap(bearing)
      self.speed = known(sentence[5], 0...2000).map { $0 * Self.metersPerSecondPerKnot }
    case .gsa:
      guard let mode = digits(sentence[2]), (1...3).contains(mode) else { return nil }
      dimensions = max(mode, dimensions ?? 0)
      self.hdop = self.hdop ?? known(sentence[16], Self.dilution)
      self.vdop = known(sentence[17], Self.dilution) ?? self.vdop
    case .gst, .gbs:
      let first = kind == .gst ? 6 : 2
      guard let north = known(sentence[first], 0...1e6),
        let east = known(sentence[first + 1], 0...1e6), north + east > 0,
        kind == .gst || deviations == nil
      else { return () }
      deviations = (north, east, known(sentence[first + 2], 0...1e6))
    case .zda: break
    case .hdg where sentence[1].isEmpty, .hdm where sentence[1].isEmpty,
      .hdt where sentence[1].isEmpty:
      // The compass has no heading yet.
      break
    case .hdg:
      guard let sensor = decimal(sentence[1]).flatMap(bearing) else { return nil }
      declination = turn(sentence, from: 4) ?? declination
      put(heading: sensor + (turn(sentence, from: 2) ?? 0), rank: 2)
    case .hdm:
      guard let magnetic = decimal(sentence[1]).flatMap(bearing) else { return nil }
      put(heading: magnetic, rank: 1)
    case .hdt:
      guard let fromTrueNorth = decimal(sentence[1]).flatMap(bearing) else { return nil }
      if let declination {
        put(heading: fromTrueNorth - declination, rank: 0)
      } else {
        hasUnknownDeclination = true
      }
    }
    return ()
  }

  private mutating func put(_ coordinate: Coordinate, rank: Int) {
    if rank >= place?.rank ?? 0 { place = (coordinate, rank) }
  }

  private mutating func put(heading: Double, rank: Int) {
    guard rank >= self.heading?.rank ?? 0, let turned = bearing(heading) else { return }
    self.heading = (turned, rank)
  }

  private mutating func readHeights(
    _ sentence: NMEASentence, hdop: Int, altitude: Int, separation: Int
  ) {
    self.hdop = known(sentence[hdop], Self.dilution) ?? self.hdop
    self.altitude = known(sentence[altitude], FieldRange.altitude)
    self.separation = known(sentence[separation], FieldRange.separation)
  }

  /// Returns an optional number; `nil` if it is absent or out of range, as for unknown values.
  private func known(_ field: ArraySlice<UInt8>, _ range: ClosedRange<Double>) -> Double? {
    decimal(field)?.within(range)
  }

  /// Parses `x.x,E`, an optional variation or deviation, in degrees clockwise.
  private func turn(_ sentence: NMEASentence, from field: Int) -> Double? {
    known(sentence[field], 0...180).map { sentence.letter(field + 1) == "W" ? -$0 : $0 }
  }

  /// Parses `ddmm.mm,N,dddmm.mm,E`.
  private func coordinate(_ sentence: NMEASentence, from field: Int) -> Coordinate? {
    guard let latitude = angle(sentence[field]), let longitude = angle(sentence[field + 2]),
      let north = sentence.letter(field + 1), north == "N" || north == "S",
      let east = sentence.letter(field + 3), east == "E" || east == "W", longitude <= 180
    else { return nil }
    return Coordinate(
      latitude: north == "N" ? latitude : -latitude, longitude: east == "E" ? longitude : -longitude
    )
  }

  private func angle(_ field: ArraySlice<UInt8>) -> Double? {
    let whole = field.prefix { $0 != UInt8(ascii: ".") }
    guard (3...5).contains(whole.count), let degrees = digits(whole.dropLast(2)),
      let minutes = decimal(field.dropFirst(whole.count - 2)), minutes >= 0, minutes < 60
    else { return nil }
    return Double(degrees) + minutes / 60
  }

  /// Parses `ddmmyy`. Years from 80 are in the 20th century, because GPS began in 1980.
  private func date(_ field: ArraySlice<UInt8>) -> Int64? {
    guard field.count == 6, let value = digits(field) else { return nil }
    let year = value % 100
    return daysSinceEpoch(
      year: year + (year < 80 ? 2000 : 1900), month: value / 100 % 100, day: value / 10000)
  }
}
