import CaptureFiles
import SystemPackage

/// A format of recorded tracks.
package enum TrackFormat: Hashable, Sendable, CaseIterable {
  case nmea, gpx, gpsdJSON

  /// For people.
  package var name: String {
    switch self {
    case .nmea: "NMEA 0183"
    case .gpx: "GPX"
    case .gpsdJSON: "gpsd JSON"
    }
  }
}

/// What the first bytes of a recording are.
package enum RecordingFormat: Hashable, Sendable {
  /// btsnoop, pcap or pcapng, which ``CaptureReader`` reads.
  case capture
  case track(TrackFormat)
  /// Neither of them, and not text: a log of a receiver's binary protocol, or something else altogether.
  case binary
  case unknown

  /// Returns whether a file is a track, by its first bytes, which are decompressed where they are gzip; `nil` for what can
  /// be read only once. What is neither a track nor a capture, or cannot be read, is no track.
  package static func isTrack(_ path: String) -> Bool? {
    // Opening a pipe would wait for its writer, and reading it would take its bytes.
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

  /// Sorts recordings by what they hold. What can be read only once, a pipe, is what nothing else shows: `isTrack`.
  package static func sort(
    _ paths: [String], pipesAreTracks isTrack: Bool
  ) -> (captures: [String], tracks: [String]) {
    var (captures, tracks): ([String], [String]) = ([], [])
    for path in paths {
      if Self.isTrack(path) ?? isTrack {
        tracks.append(path)
      } else {
        captures.append(path)
      }
    }
    return (captures, tracks)
  }

  /// The number of bytes in which a format must show itself.
  package static let window = 16 * 1024

  /// The number of NMEA sentences after which no line of gpsd is expected.
  private static let enoughSentences = 16
  /// The number of position sentences that make a track of a log in which packets of a binary protocol prevail.
  private static let enoughPositions = 8

  /// Detects the format by the first (decompressed) bytes.
  ///
  /// XML with an element `gpx` is GPX. A report of gpsd (`{"class":"TPV"…`) among the first 16 KiB makes a log of gpsd,
  /// whatever sentences stand around it; otherwise one sentence with a right checksum makes NMEA 0183 (`gpspipe -r` writes
  /// gpsd's greeting in front of them), or, where no sentence has a checksum, three lines that look like position
  /// sentences; otherwise gpsd's greeting alone makes its log. Where more bytes are control characters than belong to
  /// the first few position sentences, a line of text does not make a track of a binary log.
  ///
  /// - Parameters:
  ///   - start: The first bytes, of which ``window`` are looked at.
  ///   - isWhole: Whether the recording has no more bytes.
  /// - Returns: The format; `nil` where more bytes are needed.
  package static func detect(_ start: RawSpan, isWhole: Bool) -> RecordingFormat? {
    if start.byteCount > 0, CaptureReader.recognizes(start) {
      // As few as one byte may be a capture's first; four are.
      return start.byteCount >= 4 || isWhole ? .capture : nil
    }
    var bytes: [UInt8] = []
    for index in 0..<min(start.byteCount, window) {
      bytes.append(unsafe start.unsafeLoad(fromByteOffset: index, as: UInt8.self))
    }
    let isFull = isWhole || bytes.count == window
    if let mark = XMLScanner.text(bytes).first(where: { $0 > 0x20 }), mark == UInt8(ascii: "<") {
      return hasGPXElement(XMLScanner.text(bytes)) ? .track(.gpx) : isFull ? .unknown : nil
    }
    var framer = NMEAFramer()
    var counts = TrackCounts()
    var (right, plain, positions) = (0, 0, 0)
    for byte in bytes {
      guard let sentence = framer.take(byte, &counts) else { continue }
      if sentence.hasChecksum { right += 1 } else if sentence.kind != nil { plain += 1 }
      if sentence.kind != nil { positions += 1 }
    }
    let controls = bytes.count { $0 < 0x20 && !(0x09...0x0D).contains($0) && $0 != 0x1B }
    // A sentence has some 70 bytes.
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

  /// Returns the class of a message of gpsd, with a time in front of it or without; `nil` for any other line.
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
    // The end may be missing as yet.
    return rest.firstIndex(of: UInt8(ascii: "\"")).map { end in
      String(decoding: rest[..<end], as: UTF8.self)
    }
  }

  /// Returns whether a tag opens an element `gpx`, with a prefix or without.
  private static func hasGPXElement(_ bytes: [UInt8]) -> Bool {
    bytes.split(separator: UInt8(ascii: "<")).contains { tag in
      let name = tag.prefix {
        $0 > 0x20 && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/")
      }
      return name.count < tag.count && XMLScanner.localName(name).elementsEqual("gpx".utf8)
    }
  }
}
