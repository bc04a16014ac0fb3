/// A well-formed NMEA 0183 sentence: `$`, address, fields, and optionally a checksum.
struct NMEASentence {
  /// The supported sentences, by the last three letters of their address.
  enum Kind: String {
    case gga = "GGA", rmc = "RMC", gll = "GLL", gns = "GNS", vtg = "VTG", gsa = "GSA"
    case gst = "GST", gbs = "GBS", zda = "ZDA", hdg = "HDG", hdm = "HDM", hdt = "HDT"
  }

  private let text: [UInt8]
  private let fields: [Range<Int>]
  /// The kind; `nil` for proprietary sentences (`$P…`) and other types.
  let kind: Kind?
  let hasChecksum: Bool

  /// Parses the text between `$` and `*`; returns `nil` if it has no address.
  init?(_ text: [UInt8], hasChecksum: Bool) {
    let address = text.prefix { $0 != UInt8(ascii: ",") }
    guard (3...15).contains(address.count), address.count < text.count,
      address.allSatisfy({
        (0x41...0x5A).contains($0) || (0x30...0x39).contains($0)
      })
    else { return nil }
    var fields: [Range<Int>] = []
    var start = address.endIndex + 1
    for index in start...text.count where index == text.count || text[index] == UInt8(ascii: ",") {
      fields.append(start..<index)
      start = index + 1
    }
    self.text = text
    self.fields = fields
    self.hasChecksum = hasChecksum
    // The address has two letters of the talker and three of the type.
    kind =
      address.count == 5 && address.first != UInt8(ascii: "P")
      ? Kind(rawValue: String(decoding: address.dropFirst(2), as: UTF8.self)) : nil
  }

  /// A field, counted from 1 as in the standard; empty after the last field.
  subscript(field: Int) -> ArraySlice<UInt8> {
    fields.indices.contains(field - 1) ? text[fields[field - 1]] : []
  }

  func letter(_ field: Int) -> Unicode.Scalar? {
    self[field].count == 1 ? self[field].first.map { Unicode.Scalar($0) } : nil
  }
}

/// A parser that finds NMEA sentences among other bytes.
///
/// A sentence begins with `$` and ends with `*` and two hexadecimal digits, or without a checksum
/// at a line end. Everything else is skipped: packets of UBX, SiRF or RTCM, comments, tag blocks.
/// Receivers exceed the standard's limit of 82 bytes, so memory is for 255. After a sentence with a
/// checksum, one without it counts as damaged.
struct NMEAFramer {
  private static let longest = 255
  private var text: [UInt8]?
  private var hasChecksums = false

  mutating func take(_ byte: UInt8, _ counts: inout TrackCounts) -> NMEASentence? {
    switch byte {
    case UInt8(ascii: "$"):
      if text != nil { counts[.malformed] += 1 }
      text = []
      return nil
    case 0x0A, 0x0D:
      guard let whole = text else { return nil }
      text = nil
      return finish(whole, &counts)
    case _ where text == nil:
      counts.foreignBytes += 1
      return nil
    case 0x20...0x7E: break
    default:
      // The bytes are not text, so the `$` belonged to something else.
      counts.foreignBytes += 2 + (text?.count ?? 0)
      text = nil
      return nil
    }
    text?.append(byte)
    guard let text else { return nil }
    if text.count > Self.longest {
      counts[.tooLong] += 1
      self.text = nil
    } else if text.count > 3, text[text.count - 3] == UInt8(ascii: "*") {
      self.text = nil
      return finish(text, &counts)
    }
    return nil
  }

  mutating func finish(_ counts: inout TrackCounts) {
    if text != nil { counts[.malformed] += 1 }
    text = nil
  }

  private mutating func finish(_ text: [UInt8], _ counts: inout TrackCounts) -> NMEASentence? {
    var body = text
    var hasChecksum = false
    if let star = text.lastIndex(of: UInt8(ascii: "*")) {
      body = Array(text[..<star])
      let stated = UInt8(String(decoding: text[(star + 1)...], as: UTF8.self), radix: 16)
      guard text.count - star == 3, stated == body.reduce(0, ^) else {
        counts[.badChecksum] += 1
        return nil
      }
      hasChecksum = true
    } else if hasChecksums {
      counts[.missingChecksum] += 1
      return nil
    }
    guard let sentence = NMEASentence(body, hasChecksum: hasChecksum) else {
      counts[.malformed] += 1
      return nil
    }
    if hasChecksum { hasChecksums = true }
    counts.records += 1
    return sentence
  }
}
