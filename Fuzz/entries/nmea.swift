// NMEA 0183. Input: the bytes of a receiver; once more with right checksums.

import LocationSources

func check(_ bytes: [UInt8]) {
  checkTrack(bytes, .nmea)
  let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
  checkTrack(Array(lines.map(framed).joined(separator: [0x0A])), .nmea)
}

/// A line with the checksum that it should have, so that what stands in it is read.
private func framed(_ line: ArraySlice<UInt8>) -> [UInt8] {
  guard line.first == UInt8(ascii: "$") else { return Array(line) }
  let body = line.dropFirst().prefix { $0 != UInt8(ascii: "*") && $0 != 0x0D }
  let sum = String(body.reduce(0, ^), radix: 16)
  return Array("$".utf8) + body + Array("*\(sum.count == 1 ? "0" : "")\(sum)\r".utf8)
}
