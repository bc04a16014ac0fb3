import Advertising
package import Clocks

extension ReceiverReport {
  /// The report as JSON.
  package var json: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(256 + 160 * beacons.count)
    write(to: &bytes)
    return bytes
  }

  /// Appends the report as JSON, which allocates nothing if there is room.
  package func write(to bytes: inout [UInt8]) {
    bytes += #"{"version":"#.utf8
    bytes.append(number: Self.version)
    bytes += #","site":"#.utf8
    bytes.append(text: site)
    bytes += #","receiver":"#.utf8
    bytes.append(text: receiver)
    bytes += #","boot":""#.utf8
    bytes.append(hexadecimal: boot)
    bytes += #"","number":"#.utf8
    bytes.append(number: number)
    bytes += #","time":""#.utf8
    bytes.append(time: time)
    bytes += #"","seconds":"#.utf8
    bytes.append(seconds, decimals: 3)
    bytes += #","receptionLost":"#.utf8
    switch reception {
    case .receiving: bytes += "null".utf8
    case .lost(let reason): bytes.append(text: reason, longest: Self.maximumReasonLength)
    }
    if configuration != Configuration() { configuration.write(to: &bytes) }
    bytes += #","beacons":["#.utf8
    for (index, beacon) in beacons.prefix(Self.maximumBeacons).enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      beacon.write(to: &bytes)
    }
    bytes.append(UInt8(ascii: "]"))
    if delay > 0 { bytes.append(delay: delay) }
    bytes.append(UInt8(ascii: "}"))
  }

  /// Adds the delay to a written report that is sent at a time, if it is 2 s or more.
  package static func addDelay(to json: inout [UInt8], sentAt now: WallClockTime) {
    // The names before the time have no quotes, and the beacons are after it.
    let mark = Array(#","time":""#.utf8)
    guard json.last == UInt8(ascii: "}"), let start = json.firstRange(of: mark)?.upperBound,
      let end = json[start...].firstIndex(of: UInt8(ascii: "\"")),
      let time = WallClockTime(reported: Array(json[start..<end]))
    else { return }
    let delay = now.seconds(since: time)
    guard delay >= 2 else { return }
    json.removeLast()
    json.append(delay: min(delay, maximumDelay))
    json.append(UInt8(ascii: "}"))
  }
}

extension ReceiverReport.Configuration {
  fileprivate func write(to bytes: inout [UInt8]) {
    bytes += #","configuration":{"#.utf8
    var separator = ""
    func put(_ name: String, _ text: String) {
      bytes += #"\#(separator)"\#(name)":"#.utf8
      bytes.append(text: text, longest: ReceiverReport.maximumReasonLength)
      separator = ","
    }
    if let version { put("version", "\(version)") }
    if let trial { put("trial", "\(trial)") }
    if let refusal {
      put("refused", "\(refusal.version)")
      put("reason", refusal.reason)
    }
    bytes.append(UInt8(ascii: "}"))
  }
}

extension ReceiverReport.Beacon {
  fileprivate func write(to bytes: inout [UInt8]) {
    bytes += #"{"beacon":""#.utf8
    bytes.append(beacon.uuid)
    bytes.append(UInt8(ascii: ":"))
    bytes.append(number: Int(beacon.major))
    bytes.append(UInt8(ascii: ":"))
    bytes.append(number: Int(beacon.minor))
    bytes += #"","sightings":"#.utf8
    bytes.append(number: sightings)
    if let signal {
      bytes += #","rssi":"#.utf8
      bytes.append(signal.mean, decimals: 2)
      bytes += #","variance":"#.utf8
      bytes.append(signal.variance, decimals: 2)
      bytes += #","maximum":"#.utf8
      bytes.append(number: Int(signal.maximum))
    } else {
      bytes += #","rssi":null,"variance":null,"maximum":null"#.utf8
    }
    bytes += #","power":"#.utf8
    bytes.append(number: Int(measuredPower))
    bytes.append(UInt8(ascii: "}"))
  }
}

extension [UInt8] {
  /// Appends the member of a report.
  fileprivate mutating func append(delay: Double) {
    self += #","delay":"#.utf8
    append(delay, decimals: 3)
  }

  fileprivate mutating func append(number: Int) {
    if number < 0 { append(UInt8(ascii: "-")) }
    append(digits: number.magnitude, least: 1)
  }

  /// Appends decimal digits, with leading zeros up to a least number.
  private mutating func append(digits number: UInt, least: Int) {
    var power: UInt = 1
    var count = 1
    while number / power >= 10 {
      power *= 10
      count += 1
    }
    for _ in 0..<Swift.max(0, least - count) { append(UInt8(ascii: "0")) }
    while power > 0 {
      append(UInt8(ascii: "0") + UInt8(number / power % 10))
      power /= 10
    }
  }

  /// Appends a number rounded to 2 or 3 decimals. One that is not finite becomes 0.
  fileprivate mutating func append(_ number: Double, decimals: Int) {
    let scale: UInt = decimals == 2 ? 100 : 1000
    let scaled = (number * Double(scale)).rounded()
    let whole = scaled.isFinite ? Int64(Swift.min(Swift.max(scaled, -1e15), 1e15)) : 0
    if whole < 0 { append(UInt8(ascii: "-")) }
    let magnitude = UInt(whole.magnitude)
    append(digits: magnitude / scale, least: 1)
    guard magnitude % scale > 0 else { return }
    append(UInt8(ascii: "."))
    append(digits: magnitude % scale, least: decimals)
    while last == UInt8(ascii: "0") { removeLast() }
  }

  fileprivate mutating func append(hexadecimal number: UInt64) {
    for shift in stride(from: 60, through: 0, by: -4) {
      let digit = UInt8(number >> UInt64(shift) & 0xF)
      append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
  }

  fileprivate mutating func append(_ uuid: ProximityUUID) {
    for position in 0..<32 {
      if position == 8 || position == 12 || position == 16 || position == 20 {
        append(UInt8(ascii: "-"))
      }
      let word = position < 16 ? uuid.high : uuid.low
      let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * (position & 15))) & 0xF
      append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10)
    }
  }

  /// Appends the RFC 3339 form in UTC, with milliseconds.
  fileprivate mutating func append(time: WallClockTime) {
    // The function writes 27 bytes, all within the buffer.
    unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 27) { buffer in
      _ = unsafe time.write(rfc3339: buffer)
      unsafe append(contentsOf: buffer[..<23])
    }
    append(UInt8(ascii: "Z"))
  }

  /// Appends a text in double quotes, cut to a number of Unicode scalars.
  fileprivate mutating func append(text: String, longest: Int = .max) {
    append(UInt8(ascii: "\""))
    for scalar in text.unicodeScalars.prefix(longest) {
      switch scalar.value {
      case 0x22, 0x5C:
        append(UInt8(ascii: "\\"))
        append(UInt8(scalar.value))
      case 0..<0x20:
        self += #"\u00"#.utf8
        append(UInt8(ascii: "0") + UInt8(scalar.value >> 4))
        let digit = UInt8(scalar.value & 0xF)
        append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
      default: if let encoded = UTF8.encode(scalar) { append(contentsOf: encoded) }
      }
    }
    append(UInt8(ascii: "\""))
  }
}
