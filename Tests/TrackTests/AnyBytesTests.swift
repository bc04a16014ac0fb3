import LocationSources
import Positioning
import Scanning
import TestSupport
import Testing

/// Tracks that are cut, damaged or come in pieces.
@Suite struct AnyBytesTests {
  private static func format(_ bytes: [UInt8]) -> TrackFormat? {
    guard case .track(let format) = detected(bytes) else { return nil }
    return format
  }

  @Test(arguments: Files.tracks)
  func everyPrefixHasWhatStoodWholeInIt(file: String) throws {
    let bytes = try Files.bytes(file)
    let format = try #require(Self.format(bytes))
    let whole = Decoded(bytes, format).inputs
    #expect(whole.count > 10)
    var decoder = TrackDecoder(format)
    var inputs: [PositionInput] = []
    var given = 0
    for (index, byte) in bytes.enumerated() {
      let piece = [byte]
      let fault = unsafe decoder.decode(piece.span.bytes, into: &inputs)
      #expect(fault == nil)
      for input in inputs[given...] {
        #expect(given < whole.count && input == whole[given], "\(index)")
        given += 1
      }
      var cut = decoder
      var last: [PositionInput] = []
      _ = cut.finish(into: &last)
      // The epoch that is cut, and of gpsd the one before it, which a line without its end closes.
      if last.count > 2 { Issue.record("\(last.count) inputs after \(index) bytes") }
    }
  }

  @Test(arguments: Files.tracks, [1, 7, 333])
  func piecesMakeNoDifference(file: String, size: Int) throws {
    let bytes = try Files.bytes(file)
    let format = try #require(Self.format(bytes))
    let whole = Decoded(bytes, format)
    let pieces = Decoded(bytes, format, atATime: size)
    #expect(pieces.inputs == whole.inputs && pieces.counts == whole.counts)
  }

  @Test(arguments: Files.tracks, 0..<4)
  func damageIsCountedAndNeverTraps(file: String, seed: Int) throws {
    let original = try Files.bytes(file)
    let format = try #require(Self.format(original))
    var random = SplitMix64(seed: UInt64(seed))
    for _ in 0..<8 {
      let start = Int.random(in: 0..<max(1, original.count - 4000), using: &random)
      var bytes = Array(original.prefix(400) + original[start...].prefix(4000))
      for _ in 0..<Int.random(in: 1...40, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
        case 3: bytes[place] = UInt8.random(in: 0x30...0x39, using: &random)
        default: bytes.removeSubrange(place..<min(bytes.count, place + 300))
        }
        if bytes.isEmpty { bytes = [0] }
      }
      check(Decoded(bytes, format))
      for other in TrackFormat.allCases where other != format { check(Decoded(bytes, other)) }
    }
  }

  private func check(_ decoded: Decoded) {
    var latest = MonotonicTime(nanoseconds: .min)
    for fix in decoded.fixes {
      #expect(fix.time >= latest)
      latest = fix.time
      #expect(fix.horizontalAccuracy > 0 && fix.horizontalAccuracy.isFinite)
      #expect(fix.course.map { (0..<360).contains($0) } ?? true)
      #expect(fix.speed.map { $0 >= 0 } ?? true)
    }
    #expect(decoded.counts.fixes == decoded.fixes.count)
    #expect(decoded.counts.compassReadings == decoded.readings.count)
  }
}
