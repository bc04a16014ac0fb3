import Bytes
import CaptureFiles
import SystemPackage

package enum TrackFormat: String, Sendable, CaseIterable {
  case nmea = "NMEA 0183"
  case gpx = "GPX"
  case gpsdJSON = "gpsd JSON"

  package var name: String { rawValue }
}

package enum RecordingFormat: Hashable, Sendable {
  case capture
  case track(TrackFormat)
  /// Not text and not a capture, such as a log of a receiver's binary protocol.
  case binary
  case unknown

  /// Returns whether a file is a track by its first bytes; `nil` if they can be read only once.
  package static func isTrack(_ path: String) -> Bool? {
    // Opening a pipe would wait for its writer, and reading would consume its bytes.
    guard path != "-" else { return nil }
    guard let kind = (try? Stat(FilePath(path)))?.type else { return false }
    guard kind == .regular else { return kind == .directory ? false : nil }
    guard let file = try? FileSource(path: path) else { return false }
    var stream = ByteStream(file)
    while true {
      let read = (try? stream.fill()) ?? .end
      let isWhole = if case .end = read { true } else { false }
      switch detect(stream.unread, isWhole: isWhole) {
      case .track: return true
      case .capture, .binary, .unknown: return false
      case nil: if isWhole { return false }
      }
    }
  }

  /// Separates captures from tracks. `isTrack` decides for pipes, which can be read only once.
  package static func sort(
    _ paths: [String], pipesAreTracks isTrack: Bool
  ) -> (captures: [String], tracks: [String]) {
    let all = paths.map { (path: $0, isTrack: Self.isTrack($0) ?? isTrack) }
    return (all.filter { !$0.isTrack }.map(\.path), all.filter(\.isTrack).map(\.path))
  }

  /// The maximum number of bytes for detection.
  package static let window = 16 * 1024

  /// The number of NMEA sentences after which a log of gpsd is ruled out.
  private static let enoughSentences = 16
  /// The number of position sentences that make a track of a mainly binary log.
  private static let enoughPositions = 8

  /// Detects the format from the first (decompressed) bytes; returns `nil` if more are needed.
  ///
  /// In this order: XML with an element `gpx` is GPX. Control characters beyond those around a few
  /// position sentences mean a binary log. A report of gpsd means its log, whatever sentences are
  /// around it. A sentence with a valid checksum means NMEA 0183, as do three position sentences if
  /// none has a checksum. The greeting alone means gpsd's log.
  package static func detect(_ start: RawSpan, isWhole: Bool) -> RecordingFormat? {
    if start.byteCount > 0, CaptureReader.recognizes(start) {
      // A capture may begin with a single byte, but four are needed.
      return start.byteCount >= 4 || isWhole ? .capture : nil
    }
    let bytes = start.extracting(first: window).array
    let isFull = isWhole || bytes.count == window
    if let mark = XMLScanner.text(bytes).first(where: { $0 > 0x20 }), mark == UInt8(ascii: "<") {
      return hasGPXElement(XMLScanner.text(bytes)) ? .track(.gpx) : isFull ? .unknown : nil
    }
    var framer = NMEAFramer()
    var counts = TrackCounts()
    let sentences = bytes.compactMap { framer.take($0, &counts) }
    let right = sentences.count(where: \.hasChecksum)
    let plain = sentences.count { !$0.hasChecksum && $0.kind != nil }
    let positions = sentences.count { $0.kind != nil }
    let controls = bytes.count { $0 < 0x20 && !(0x09...0x0D).contains($0) && $0 != 0x1B }
    let isBinary =
      controls > 8 + bytes.count / 20 && positions < enoughPositions && controls > 70 * positions
    if isBinary { return isFull ? .binary : nil }
    var hasGreeting = false
    for line in bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
      switch messageClass(line) {
      case nil: break
      case "VERSION", "DEVICES", "DEVICE", "WATCH": hasGreeting = true
      case _?: return .track(.gpsdJSON)
      }
    }
    if right >= enoughSentences, !hasGreeting { return .track(.nmea) }
    guard isFull else { return nil }
    if right > 0 || plain >= 3 { return .track(.nmea) }
    return hasGreeting ? .track(.gpsdJSON) : .unknown
  }

  /// Returns the class of a gpsd message, optionally after a time; `nil` for any other line.
  private static func messageClass(_ line: ArraySlice<UInt8>) -> String? {
    guard let start = line.prefix(GPSDTrack.longestPrefix).firstIndex(of: UInt8(ascii: "{")) else {
      return nil
    }
    let name = Array(#""class""#.utf8)
    var rest = line[start...]
    while !rest.isEmpty, !rest.starts(with: name) { rest = rest.dropFirst() }
    rest = rest.dropFirst(name.count).drop { $0 == 0x20 }
    guard rest.first == UInt8(ascii: ":") else { return nil }
    rest = rest.dropFirst().drop { $0 == 0x20 }
    guard rest.first == UInt8(ascii: "\"") else { return nil }
    rest = rest.dropFirst()
    // The end may not be read yet.
    return rest.firstIndex(of: UInt8(ascii: "\"")).map { end in
      String(decoding: rest[..<end], as: UTF8.self)
    }
  }

  /// Returns `true` if a tag opens an element `gpx`, with or without a prefix.
  private static func hasGPXElement(_ bytes: [UInt8]) -> Bool {
    bytes.split(separator: UInt8(ascii: "<")).contains { tag in
      let name = tag.prefix {
        $0 > 0x20 && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/")
      }
      return name.count < tag.count && XMLScanner.localName(name).elementsEqual("gpx".utf8)
    }
  }
}
