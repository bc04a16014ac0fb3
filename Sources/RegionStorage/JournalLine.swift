import FoundationEssentials
import SystemPackage

/// A line of the journal: a JSON object that begins with the checksum of what follows it.
///
///     {"sum":"1c291ca3","call":7,"remove":{"id":"lobby"}}
///             └──────┘ └──── CRC-32 of these bytes ─────┘
enum JournalLine {
  /// The longest line with its end, in bytes: 64 KiB.
  static let longest = 65536
  /// The version that is written, and the newest that is read.
  static let version = 1
  /// What the header names.
  static let format = "corelocation-regions"

  private struct Header: Codable {
    var format: String
    var version: Int
  }

  /// What a first line is.
  enum Head: Hashable {
    /// Of this version.
    case sound
    /// Of a version that we do not know.
    case newer(Int)
    /// No header.
    case damaged
  }

  private static let start = Array(#"{"sum":""#.utf8)
  private static let middle = Array(#"","#.utf8)
  private static let bodyStart = start.count + 8 + middle.count

  /// The line that a journal begins with.
  static func header(version: Int = version) -> [UInt8] {
    (try? line(Header(format: format, version: version))) ?? []
  }

  /// The line for a record, its end included.
  static func bytes(of form: LineForm, file: String) throws(StoreError) -> [UInt8] {
    let bytes: [UInt8]
    do {
      bytes = try line(form)
    } catch {
      // The forms hold nothing that JSON cannot.
      throw StoreError(file: file, problem: .failed(call: "JSON encoding", .invalidArgument))
    }
    guard bytes.count <= longest else {
      throw StoreError(file: file, problem: .tooLong(bytes: bytes.count))
    }
    return bytes
  }

  private static func line(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    // Behind the object's brace, which stands before the sum.
    let body = try encoder.encode(value).dropFirst()
    var bytes = start
    bytes.reserveCapacity(body.count + 32)
    bytes += hexadecimal(CRC32.of(body))
    bytes += middle
    bytes += body
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }

  /// Reads the first line.
  static func head(_ line: [UInt8]) -> Head {
    guard let body = body(of: line),
      let header = try? JSONDecoder().decode(Header.self, from: body),
      header.format == format, header.version > 0
    else { return .damaged }
    return header.version > version ? .newer(header.version) : .sound
  }

  /// Reads a line without its end.
  ///
  /// - Returns: What it says; `nil` if the checksum is wrong.
  static func read(_ line: [UInt8]) -> Content? {
    guard let body = body(of: line) else { return nil }
    guard let form = try? JSONDecoder().decode(LineForm.self, from: body),
      form.call > 0, form.call <= LineForm.mostSerial,
      form.delivered ?? 0 <= LineForm.mostSerial, let record = form.record
    else { return .unreadable }
    return .record(record, form)
  }

  /// What a line with a right checksum says.
  enum Content {
    case record(Record, LineForm)
    /// Nothing that is understood.
    case unreadable
  }

  /// The object without its checksum, if that is right.
  private static func body(of line: [UInt8]) -> Data? {
    guard line.count > bodyStart, line.starts(with: start),
      line[(bodyStart - middle.count)...].starts(with: middle)
    else { return nil }
    let body = line[bodyStart...]
    guard line[start.count...].starts(with: hexadecimal(CRC32.of(body))) else { return nil }
    return Data([UInt8(ascii: "{")] + body)
  }

  private static func hexadecimal(_ value: UInt32) -> [UInt8] {
    (0..<8).map { index in
      let nibble = UInt8(truncatingIfNeeded: value >> (28 - 4 * index)) & 0xF
      return nibble < 10 ? 48 + nibble : 87 + nibble
    }
  }
}
