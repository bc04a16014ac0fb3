import Bytes
import Positioning
import Scanning

/// A decoder of a log of gpsd's JSON protocol, as from `gpspipe -w`.
///
/// Of the reports (TPV) with one time, the last with a fix is delivered. The first receiver with a
/// fix is followed; reports of others are only counted until it is silent for ten seconds. Other
/// text is skipped.
struct GPSDTrack: TrackFormatDecoder {
  private var lines = LineBuffer()
  private var epoch: (fix: Fix, stated: WallClockTime)?
  private var device: String?
  private var dilutions: [String: Double] = [:]
  private var declination: Double?
  private var latest: WallClockTime?

  private static let patience: Int64 = 10 * WallClockTime.nanosecondsPerSecond
  /// The maximum length of the text before a line's message, such as a logger's time.
  static let longestPrefix = 64
  private static let mostDevices = 16

  mutating func decode(_ bytes: RawSpan, into output: inout TrackOutput) -> TrackDecoder.Fault? {
    split(bytes.array[...], &output)
    return nil
  }

  mutating func finish(into output: inout TrackOutput) -> Bool {
    // The last line may have no line end.
    split([UInt8(ascii: "\n")], &output)
    close(&output)
    return true
  }

  private mutating func split(_ bytes: ArraySlice<UInt8>, _ output: inout TrackOutput) {
    let dropped = lines.droppedLines
    for line in lines.append(bytes) { take(line, &output) }
    output.counts.records += lines.droppedLines - dropped
    output.counts[.tooLong] += lines.droppedLines - dropped
  }

  private mutating func take(_ line: [UInt8], _ output: inout TrackOutput) {
    guard let start = line.prefix(Self.longestPrefix).firstIndex(of: UInt8(ascii: "{")) else {
      return
    }
    output.counts.records += 1
    let text = Array(line[start...])
    let message: GPSDMessage
    do throws(ParseError) {
      message = try unsafe GPSDMessage(parsing: text.span.bytes)
    } catch {
      return output.count(.malformed)
    }
    switch message {
    case .report(let report): take(report, &output)
    case .sky(let sky):
      let name = sky.device ?? ""
      guard dilutions[name] != nil || dilutions.count < Self.mostDevices else { return }
      dilutions[name] = sky.hdop ?? dilutions[name]
    case .attitude(let attitude):
      guard let magnetic = attitude.magneticHeading(declination: declination) else {
        if attitude.heading != nil { output.count(.unknownDeclination) }
        return
      }
      guard let time = attitude.time ?? latest else { return output.count(.undated) }
      close(&output)
      output.add(
        CompassReading(
          time: MonotonicTime(nanoseconds: 0), timestamp: time, magneticHeading: magnetic))
    case .version, .devices, .device, .error, .other: break
    }
  }

  private mutating func take(_ report: GPSDMessage.Report, _ output: inout TrackOutput) {
    guard report.hasFix else { return output.count(.noFix) }
    guard let time = report.time else { return output.count(.undated) }
    guard
      let fix = report.fix(
        at: MonotonicTime(nanoseconds: 0), wallClock: time, hdop: dilutions[report.device ?? ""])
    else { return output.count(.malformed) }
    let name = report.device ?? ""
    if let device, device != name, let latest,
      (-Self.patience...Self.patience).contains(time.nanoseconds(since: latest))
    {
      return output.count(.otherReceiver)
    }
    device = name
    latest = time
    declination = report.declination ?? declination
    if epoch?.stated != time { close(&output) }
    epoch = (fix, time)
  }

  private mutating func close(_ output: inout TrackOutput) {
    if let epoch { output.add(epoch.fix) }
    epoch = nil
  }
}
