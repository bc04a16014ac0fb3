import Foundation

/// A directory that is gone when it is no longer used.
final class Scratch {
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "command-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  func path(_ name: String) -> URL {
    folder.appending(path: name)
  }

  /// Makes a file.
  func file(_ name: String, _ bytes: [UInt8] = []) throws -> URL {
    try Data(bytes).write(to: path(name))
    return path(name)
  }

  func file(_ name: String, _ text: String) throws -> URL {
    try file(name, Array(text.utf8))
  }
}

/// Small captures by hand.
enum Recording {
  /// The first bytes of a shipped btsnoop recording: its header, and packets or parts of some.
  static func head(_ count: Int, of name: String = "visitor.btsnoop") throws -> [UInt8] {
    [UInt8](try Data(contentsOf: Command.root.appending(path: "captures/\(name)")).prefix(count))
  }

  /// A shipped btsnoop recording cut in two: what was heard in its first seconds, and the rest.
  static func split(_ name: String, after seconds: Int) throws -> (head: [UInt8], tail: [UInt8]) {
    let bytes = [UInt8](try Data(contentsOf: Command.root.appending(path: "captures/\(name)")))
    func number(_ range: Range<Int>) -> Int {
      bytes[range].reduce(0) { $0 << 8 | Int($1) }
    }
    let first = number(32..<40)
    var cut = 16
    while cut < bytes.count, number(cut + 16..<cut + 24) < first + seconds * 1_000_000 {
      cut += 24 + number(cut + 4..<cut + 8)
    }
    return (Array(bytes[..<cut]), Array(bytes[..<16] + bytes[cut...]))
  }

  /// A pcap file's header.
  static func pcapHeader(linkType: UInt8) -> [UInt8] {
    [
      0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, linkType, 0, 0,
      0,
    ]
  }

  /// An H4 packet with the report of an iBeacon, or with the same data of another company.
  private static func packet(company: UInt8 = 0x4C) -> [UInt8] {
    let data: [UInt8] = [0x02, 0x01, 0x06, 0x1A, 0xFF, company, 0x00, 0x02, 0x15]
    let identity = [UInt8](repeating: 0x11, count: 16) + [0, 1, 0, 2, 0xC5]
    let report: [UInt8] = [0x03, 0x01, 1, 2, 3, 4, 5, 0xC6, 30] + data + identity + [0xC0]
    return [0x04, 0x3E, UInt8(report.count + 2), 0x02, 0x01] + report
  }

  /// A btsnoop file of one iBeacon, heard at these microseconds.
  static func btsnoop(times: [Int64]) throws -> [UInt8] {
    var bytes = try head(16)
    let packet = packet()
    for time in times {
      let length = [0, 0, 0, UInt8(packet.count)]
      let stamp = time &+ 0x00DC_DDB3_0F2F_8000
      bytes += length + length + [0, 0, 0, 3, 0, 0, 0, 0]
      bytes += (0..<8).map { UInt8(truncatingIfNeeded: stamp >> (56 - 8 * $0)) } + packet
    }
    return bytes
  }

  /// A pcapng file of one iBeacon, heard at these nanoseconds.
  static func pcapng(times: [UInt64], company: UInt8 = 0x4C) -> [UInt8] {
    let packet = packet(company: company)
    func word(_ value: UInt32) -> [UInt8] {
      (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    func block(_ type: UInt32, _ body: [UInt8]) -> [UInt8] {
      let padded = body + [UInt8](repeating: 0, count: -body.count & 3)
      let length = word(UInt32(padded.count + 12))
      return word(type) + length + padded + length
    }
    var bytes = block(0x0A0D_0D0A, word(0x1A2B_3C4D) + [1, 0, 0, 0] + word(.max) + word(.max))
    bytes += block(1, [187, 0, 0, 0] + word(0) + [9, 0, 1, 0, 9, 0, 0, 0])
    for time in times {
      let length = word(UInt32(packet.count))
      let stamp = word(UInt32(time >> 32)) + word(UInt32(truncatingIfNeeded: time))
      bytes += block(6, word(0) + stamp + length + length + packet)
    }
    return bytes
  }
}
