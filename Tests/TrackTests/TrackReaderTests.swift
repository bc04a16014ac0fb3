import CaptureFiles
import Clocks
import Foundation
import LocationSources
import Positioning
import TestSupport
import Testing

/// Files: their formats, gzip, pieces and errors.
@Suite struct TrackReaderTests {
  private static let scratch = Result { try Scratch() }

  private func read(_ bytes: [UInt8], _ name: String = UUID().uuidString) throws -> (
    inputs: [PositionInput], reader: TrackReader, error: TrackError?
  ) {
    let scratch = try Self.scratch.get()
    try scratch.write(bytes, name)
    let reader = try TrackReader(path: scratch[name])
    var inputs: [PositionInput] = []
    do throws(TrackError) {
      while case .more = try reader.read(into: &inputs) {}
      return (inputs, reader, nil)
    } catch {
      return (inputs, reader, error)
    }
  }

  @Test(arguments: Files.tracks)
  func aFileIsReadAsItsFormat(file: String) throws {
    let bytes = try Files.bytes(file)
    let (inputs, reader, error) = try read(bytes)
    let format: TrackFormat =
      file.hasSuffix("gpx") ? .gpx : file.hasSuffix("chk") ? .gpsdJSON : .nmea
    #expect(error == nil && reader.format == format)
    let whole = Decoded(bytes, format)
    #expect(inputs == whole.inputs && reader.counts == whole.counts)
    #expect(reader.firstTime != nil && reader.bytesRead == bytes.count)
  }

  @Test func gzipIsDecompressed() throws {
    let bytes = try Files.bytes("Vectors/drive.gpx")
    let scratch = try Self.scratch.get()
    try scratch.write(bytes, "drive.gpx")
    let gzip = Process()
    gzip.executableURL = URL(filePath: "/bin/gzip")
    gzip.arguments = ["-kf", scratch["drive.gpx"]]
    try StartedProcess(gzip).wait()
    let (inputs, reader, error) = try read(try scratch.bytes("drive.gpx.gz"))
    #expect(error == nil && reader.format == .gpx && inputs.count == 60)
  }

  @Test(arguments: [
    Array("hello\n".utf8),
    Array("<html><body>gpx</body></html>".utf8), [0], Array("{\"a\":1}\n".utf8),
    [UInt8](repeating: 0x24, count: 100_000),
    Array("$GPTXT,without,a,checksum\r\n$HELLO,world\r\n".utf8),
  ])
  func whatIsNoTrackIsRefusedInOneSentence(bytes: [UInt8]) throws {
    let name = UUID().uuidString
    let (inputs, _, error) = try read(bytes, name)
    let path = try Self.scratch.get()[name]
    #expect(inputs.isEmpty && error == .notATrack(file: path))
    #expect(
      error?.description
        == "\(path): this is not a btsnoop, pcap or pcapng capture and not an NMEA 0183, GPX or gpsd JSON track; give one that is"
    )
  }

  @Test func aCaptureIsRefusedAsOne() throws {
    let name = UUID().uuidString
    let (inputs, _, error) = try read(Array("btsnoop\0\0\0\0\u{1}\0\0\u{3}\u{EA}".utf8), name)
    let path = try Self.scratch.get()[name]
    #expect(inputs.isEmpty && error == .capture(file: path))
    #expect(
      error?.description.contains("this is a capture of Bluetooth, which has no locations") == true)
  }

  @Test func anEmptyFileIsNoTrack() throws {
    let (_, _, error) = try read([])
    guard case .empty = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func aGPXFileThatIsCutGivesWhatStoodBeforeAndSaysSo() throws {
    let bytes = try Files.bytes("Vectors/drive.gpx")
    let (inputs, _, error) = try read(Array(bytes.prefix(bytes.count / 2)))
    #expect(inputs.count == 28 || inputs.count == 29 || inputs.count == 30)
    guard case .cutShort = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func aDurationEndsTheTrack() throws {
    let scratch = try Self.scratch.get()
    try scratch.write(try Files.bytes("Vectors/drive.nmea"), "drive.nmea")
    let reader = try TrackReader(path: scratch["drive.nmea"], duration: 10_000_000_000)
    var inputs: [PositionInput] = []
    while case .more = try reader.read(into: &inputs) {}
    #expect(inputs.count == 10)
  }

  /// Of a clock that was set in the middle, what stood before keeps its time, and so does what is wrong behind it.
  @Test(arguments: [true, false]) func aClockThatWasSetPartsTheTrack(isCut: Bool) throws {
    let points = [2, 1, 3].flatMap { day in
      (10...59).map { second in
        #"<trkpt lat="48.\#(day)" lon="11"><time>2026-01-0\#(day)T12:00:\#(second)Z</time></trkpt>"#
      }
    }
    let text =
      #"<gpx version="1.1"><trk><trkseg>"# + points.joined()
      + (isCut ? "" : "</trkseg></trk></gpx>")
    let scratch = try Self.scratch.get()
    let name = UUID().uuidString
    try scratch.write(Array(text.utf8), name)
    let reader = try TrackReader(path: scratch[name])
    var batches: [Int] = []
    var progress = ReadingProgress.more
    var failure: TrackError?
    do throws(TrackError) {
      while progress == .more {
        var inputs: [PositionInput] = []
        progress = try reader.read(into: &inputs)
        for case .fix(let fix) in inputs {
          #expect(fix.time.wallClockTime(reader.wallClockOffset) == fix.timestamp)
        }
        if !inputs.isEmpty { batches.append(inputs.count) }
      }
    } catch {
      failure = error
    }
    #expect(failure == (isCut ? .cutShort(file: scratch[name]) : nil))
    // A step forward is silence.
    #expect(batches == [50, 100])
  }

  /// `gpspipe -r` writes gpsd's greeting before the receiver's sentences, `gpspipe -w -t` a time before each line.
  @Test(arguments: ["", "2024-02-01T12:00:00.000: ", "1706788800.000000: "])
  func whatGpspipeWritesIsRecognized(time: String) {
    let greeting = [
      #"{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}"#,
      #"{"class":"DEVICES","devices":[{"class":"DEVICE","path":"/dev/ttyACM0"}]}"#,
      #"{"class":"WATCH","enable":true,"json":false,"nmea":true}"#,
    ].map { time + $0 + "\r\n" }.joined()
    let sentences = (0..<20).map { time + rmc("1200\($0 + 10)") }.joined()
    #expect(detected(Array((greeting + sentences).utf8)) == .track(.nmea))
    #expect(detected(Array((greeting + sentences).utf8), isWhole: false) == nil)
    #expect(detected(Array(greeting.utf8)) == .track(.gpsdJSON))
    for report in [#"{"class":"TPV","mode":1}"#, #"{"alt": 1.5, "class": "TPV", "mode": 1}"#] {
      let log = Array((greeting + sentences + time + report + "\n").utf8)
      #expect(detected(log) == .track(.gpsdJSON))
      #expect(
        (0..<log.count).allSatisfy {
          detected(Array(log.prefix($0)), isWhole: false) ?? .track(.gpsdJSON) == .track(.gpsdJSON)
        })
    }
  }

  /// Logs of binary protocols have lines of text: a comment, a start-up message, a sentence before the receiver is switched.
  @Test(arguments: [
    "", rmc("120000"), #"# {"class":"DEVICE","path":"/dev/ttyUSB0"}"# + "\n",
    sentence("GPTXT,01,01,02,HW"),
  ])
  func aBinaryLogIsCalledOne(line: String) throws {
    var bytes = Array(line.utf8)
    for index in 0..<200 { bytes += [0xB5, 0x62, 1, 7, 4, 0, UInt8(index), 0, 0, 0x24, 0x41, 0] }
    #expect(detected(bytes) == .binary)
    let name = UUID().uuidString
    let (inputs, _, error) = try read(bytes, name)
    let path = try Self.scratch.get()[name]
    #expect(inputs.isEmpty && error == .binary(file: path))
    // Between packets, a receiver may write sentences all the time.
    let mixed = (10..<30).flatMap { bytes.prefix(600) + Array(rmc("1200\($0)").utf8) }
    #expect(detected(mixed) == .track(.nmea))
  }

  @Test func theFormatShowsItselfEarly() throws {
    let nmea = Array((0..<20).map { rmc("1200\($0 + 10)") }.joined().utf8)
    #expect(detected(Array(nmea.prefix(100)), isWhole: false) == nil)
    #expect(detected(nmea, isWhole: false) == .track(.nmea))
    let pcap: [UInt8] = [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0]
    #expect(detected(pcap, isWhole: false) == .capture)
  }
}
