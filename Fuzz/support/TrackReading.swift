import LocationSources
import Positioning
import Records
import Scanning

/// What came of reading a track to its end.
struct TrackReading {
  private(set) var inputs: [PositionInput] = []
  private(set) var fault: (rule: String, offset: Int)?
  private(set) var isComplete = true
  private(set) var decoder: TrackDecoder

  init(_ bytes: [UInt8], _ format: TrackFormat, atATime size: Int = .max) {
    decoder = TrackDecoder(format)
    var rest = bytes[...]
    while !rest.isEmpty, fault == nil {
      // A copy of exactly the piece lets AddressSanitizer see a read past it.
      let piece = Array(rest.prefix(size))
      rest = rest.dropFirst(size)
      fault = unsafe decoder.decode(piece.span.bytes, into: &inputs)
    }
    isComplete = decoder.finish(into: &inputs)
  }

  var counts: TrackCounts { decoder.counts }
}

/// Checks what holds for a track of any format: times go forward, numbers lie within their ranges, everything is counted,
/// and neither pieces nor a prefix change what stands before.
func checkTrack(_ bytes: [UInt8], _ format: TrackFormat) {
  let whole = TrackReading(bytes, format)
  checkInputs(whole)
  let number = hash(bytes)
  let pieces = TrackReading(bytes, format, atATime: 1 + Int(number % 300))
  require(pieces.inputs == whole.inputs, "pieces give other inputs")
  require(pieces.counts == whole.counts, "pieces give other counts")
  require(pieces.fault?.offset == whole.fault?.offset, "pieces fail elsewhere")
  if let fault = whole.fault {
    require(bytes.indices.contains(fault.offset), "\(fault.rule) at \(fault.offset)")
  }
  // What a prefix has given before its end is what the whole begins with.
  var decoder = TrackDecoder(format)
  var inputs: [PositionInput] = []
  let prefix = Array(bytes.prefix(Int(number >> 16) % (bytes.count + 1)))
  _ = unsafe decoder.decode(prefix.span.bytes, into: &inputs)
  require(whole.inputs.starts(with: inputs), "a prefix gave other inputs")
  var rest = inputs
  _ = decoder.finish(into: &rest)
  require(rest.starts(with: inputs), "the end changes what was given")
  _ = unsafe RecordingFormat.detect(bytes.span.bytes, isWhole: number % 2 == 0)
}

private func checkInputs(_ reading: TrackReading) {
  var latest = MonotonicTime(nanoseconds: .min)
  var (fixes, readings) = (0, 0)
  for input in reading.inputs {
    let time: MonotonicTime
    switch input {
    case .fix(let fix):
      fixes += 1
      time = fix.time
      require(fix.horizontalAccuracy > 0 && fix.horizontalAccuracy.isFinite, "\(fix)")
      require((0..<360).contains(fix.course ?? 0) && (fix.speed ?? 0) >= 0, "\(fix)")
      require((fix.verticalAccuracy ?? 0) >= 0 && (fix.speedAccuracy ?? 0) >= 0, "\(fix)")
      require((fix.altitude ?? 0).isFinite && (fix.ellipsoidalAltitude ?? 0).isFinite, "\(fix)")
      checkRow(.fix(fix))
    case .compass(let compass):
      readings += 1
      time = compass.time
      require((0..<360).contains(compass.magneticHeading), "\(compass)")
    }
    require(time >= latest, "time goes back")
    latest = time
  }
  require(reading.counts.fixes == fixes, "\(fixes) fixes, \(reading.counts.fixes) counted")
  require(reading.counts.compassReadings == readings, "\(readings) readings")
  require(TrackOddity.allCases.allSatisfy { reading.counts[$0] >= 0 }, "a count below zero")
}

/// Checks that a line is written as one line of JSON and one row, with numbers only.
private func checkRow(_ line: LocateLine) {
  var text: [UInt8] = []
  line.record.appendLine(line, to: &text)
  appendRow(LocateLine.row.csvRow(line), to: &text)
  let lines = text.split(separator: UInt8(ascii: "\n"))
  require(
    lines.count == 2 && text.allSatisfy { $0 == 0x0A || (0x20...0x7E).contains($0) }, "\(line)")
  for word in ["nan", "inf"] {
    require(!String(decoding: text, as: UTF8.self).contains(word), "\(line)")
  }
}
