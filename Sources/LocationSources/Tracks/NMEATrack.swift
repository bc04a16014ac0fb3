import Positioning
import Scanning

/// A decoder of NMEA 0183 that joins the sentences of each epoch to a fix.
///
/// GGA, RMC, GLL, GNS, GST and GBS contain the time of day. The first of them with another time
/// ends an epoch, as does a second one of a type without a time, and the end of the track. VTG, GSA
/// and headings belong to the current epoch, or to the next if the current one has that type.
///
/// RMC and ZDA contain the date. In between, each time of day is within twelve hours of the
/// previous one. At most 600 epochs before the first date are held and dated back from it. A track
/// without a date begins on 1970-01-01.
struct NMEATrack: TrackFormatDecoder {
  private static let mostHeld = 600
  /// The nanoseconds for which an accuracy also applies to epochs without one.
  private static let accuracyAge = 10 * WallClockTime.nanosecondsPerSecond
  private static let daysPerEra: Int64 = 1024 * 7

  private var framer = NMEAFramer()
  private var epoch = NMEAEpoch()
  /// Sentences without a time that arrived before their epoch.
  private var early: [NMEASentence] = []
  private var declination: Double?
  /// The latest ZDA, which may precede or follow its epoch and differ from the fix's time.
  private var announced: (day: Int64, time: Int64)?
  private var reference: Int64?
  private var isUndated = false
  private var held: [NMEAEpoch] = []
  /// The latest accuracy, in meters, and the time of its epoch.
  private var accuracy: (meters: Double, moment: Int64)?

  mutating func decode(_ bytes: RawSpan, into output: inout TrackOutput) -> TrackDecoder.Fault? {
    for index in 0..<bytes.byteCount {
      let byte = unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
      if let sentence = framer.take(byte, &output.counts) { take(sentence, &output) }
    }
    return nil
  }

  mutating func finish(into output: inout TrackOutput) -> Bool {
    framer.finish(&output.counts)
    close(&output)
    releaseUndated(&output)
    return true
  }

  private mutating func take(_ sentence: NMEASentence, _ output: inout TrackOutput) {
    guard let kind = sentence.kind else { return }
    switch kind {
    case .zda: takeDate(sentence, &output)
    case .vtg, .hdg, .hdm, .hdt:
      if epoch.accepts(kind, timeOfDay: nil) { fallthrough }
      early.removeAll { $0.kind == kind }
      early.append(sentence)
    case .gsa:
      // An epoch has one for each constellation.
      if !epoch.take(sentence, declination: &declination) { output.count(.malformed) }
    case .gga, .gns, .rmc, .gll, .gst, .gbs: takeTimed(sentence, kind, &output)
    }
  }

  private mutating func takeTimed(
    _ sentence: NMEASentence, _ kind: NMEASentence.Kind, _ output: inout TrackOutput
  ) {
    let text = sentence[kind == .gll ? 5 : 1]
    let time = timeOfDay(text)
    guard text.isEmpty || time != nil else { return output.count(.malformed) }
    if !epoch.accepts(kind, timeOfDay: time) {
      if let time, time == epoch.timeOfDay { return output.count(.duplicate) }
      close(&output)
    } else if epoch.isRefused, epoch.timeOfDay == nil, time != nil {
      // Without a time the receiver had no fix, so this is its first one.
      var first = NMEAEpoch()
      if first.take(sentence, declination: &declination), first.fix != nil { close(&output) }
    }
    if !epoch.take(sentence, declination: &declination) {
      output.count(.malformed)
    } else if let time {
      epoch.timeOfDay = time
    }
  }

  private mutating func takeDate(_ sentence: NMEASentence, _ output: inout TrackOutput) {
    guard !sentence[2].isEmpty || !sentence[4].isEmpty else { return }
    guard let time = timeOfDay(sentence[1]), let day = digits(sentence[2]),
      let month = digits(sentence[3]), let year = digits(sentence[4]),
      let date = daysSinceEpoch(year: year, month: month, day: day)
    else { return output.count(.malformed) }
    announced = (date, time)
  }

  /// Parses `hhmmss.ss`.
  private func timeOfDay(_ field: ArraySlice<UInt8>) -> Int64? {
    let whole = field.prefix { $0 != UInt8(ascii: ".") }
    guard whole.count == 6, let value = digits(whole) else { return nil }
    var fraction: Int64 = 0
    if field.count > 7 {
      guard let part = fractionOfSecond(field.dropFirst(7)) else { return nil }
      fraction = part
    }
    return LocationSources.timeOfDay(
      hour: value / 10000, minute: value / 100 % 100, second: value % 100, fraction: fraction)
  }

  private mutating func close(_ output: inout TrackOutput) {
    var ended = epoch
    epoch = NMEAEpoch()
    for sentence in early where !epoch.take(sentence, declination: &declination) {
      output.count(.malformed)
    }
    early.removeAll(keepingCapacity: true)
    guard let time = ended.timeOfDay else {
      // Receivers write no time before their first fix.
      if ended.hasPosition { output.count(ended.fix == nil ? .noFix : .undated) }
      if ended.magneticHeading != nil { output.count(.undated) }
      return
    }
    if ended.date == nil, let announced { ended.date = day(of: time, near: announced) }
    announced = nil
    if let stated = ended.date, isUndated || reference == nil {
      let moment = stated * nanosecondsPerDay + time
      if isUndated { output.setClock(WallClockTime(nanoseconds: moment)) }
      dateBack(from: moment, &output)
      isUndated = false
      deliver(ended, moment, &output)
    } else if reference != nil {
      deliver(ended, moment(of: ended, time, &output), &output)
    } else {
      held.append(ended)
      if held.count > Self.mostHeld { releaseUndated(&output) }
    }
  }

  private func moment(of epoch: NMEAEpoch, _ time: Int64, _ output: inout TrackOutput) -> Int64 {
    let stated = epoch.date
    guard let reference else { return (stated ?? 0) * nanosecondsPerDay + time }
    let day = day(
      of: time, near: (reference / nanosecondsPerDay, reference % nanosecondsPerDay))
    guard let stated, stated != day else { return max(0, day) * nanosecondsPerDay + time }
    let isMidnight = min(time, nanosecondsPerDay - time) < 2 * WallClockTime.nanosecondsPerSecond
    if isMidnight, abs(stated - day) == 1 {
      output.count(.lateDate)
      return max(0, day) * nanosecondsPerDay + time
    }
    if stated < day || stated > day + 365, !isRollover(stated - day) { output.count(.dateJump) }
    return stated * nanosecondsPerDay + time
  }

  private func isRollover(_ days: Int64) -> Bool {
    let rest = (abs(days) + 7) % Self.daysPerEra
    return abs(days) > 7 && rest <= 14
  }

  /// Returns the day on which a time of day is closest to another time.
  private func day(of time: Int64, near other: (day: Int64, time: Int64)) -> Int64 {
    let difference = time - other.time
    if difference < -nanosecondsPerDay / 2 { return other.day + 1 }
    return difference > nanosecondsPerDay / 2 ? other.day - 1 : other.day
  }

  /// Delivers the held epochs, each at most a day before the next.
  private mutating func dateBack(from moment: Int64, _ output: inout TrackOutput) {
    var moments: [Int64] = []
    var next = moment
    for epoch in held.reversed() {
      let time = epoch.timeOfDay ?? 0
      var own = next / nanosecondsPerDay * nanosecondsPerDay + time
      if own > next { own -= nanosecondsPerDay }
      next = max(0, own)
      moments.append(next)
    }
    for (epoch, moment) in zip(held, moments.reversed()) { deliver(epoch, moment, &output) }
    held = []
  }

  private mutating func releaseUndated(_ output: inout TrackOutput) {
    guard !held.isEmpty else { return }
    isUndated = true
    let waiting = held
    held = []
    for epoch in waiting {
      deliver(epoch, moment(of: epoch, epoch.timeOfDay ?? 0, &output), &output)
    }
  }

  private mutating func deliver(_ epoch: NMEAEpoch, _ moment: Int64, _ output: inout TrackOutput) {
    reference = moment
    let timestamp = WallClockTime(nanoseconds: moment)
    if var fix = epoch.fix {
      if isUndated { output.count(.undated) }
      fix.timestamp = timestamp
      if let meters = epoch.horizontalAccuracy {
        accuracy = (meters, moment)
      } else if let accuracy, abs(moment - accuracy.moment) <= Self.accuracyAge {
        fix.horizontalAccuracy = accuracy.meters
      }
      output.add(fix)
    } else if epoch.hasPosition {
      output.count(.noFix)
    }
    if let heading = epoch.magneticHeading {
      output.add(
        CompassReading(
          time: MonotonicTime(nanoseconds: 0), timestamp: timestamp, magneticHeading: heading))
    } else if epoch.hasOnlyTrueHeading {
      output.count(.unknownDeclination)
    }
  }
}
