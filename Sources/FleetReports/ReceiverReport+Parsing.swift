import Advertising
import Bytes
import Clocks
import Scanning

/// The reason that bytes are not a report: one sentence, which names the member.
package struct ReportError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }

  fileprivate init(_ member: String, must rule: String) {
    self.init("\(member) of the report must be \(rule)")
  }
}

extension ReceiverReport {
  /// Parses a report. Members that this version does not know are ignored.
  package init(parsing bytes: RawSpan) throws(ReportError) {
    guard bytes.byteCount <= Self.maximumLength else {
      throw ReportError(
        "the report has \(bytes.byteCount) bytes, and at most \(Self.maximumLength) are read")
    }
    let value: JSONValue
    do throws(ParseError) {
      value = try JSONValue(parsing: bytes)
    } catch {
      throw ReportError("the report is not JSON: \(error)")
    }
    guard case .object(let members) = value else {
      throw ReportError("the report is not a JSON object")
    }
    let reader = Members(members, path: "")
    // Another version may have other members.
    guard try reader.integer("version", 1...Int(Int32.max)) == Self.version else {
      throw ReportError("version", must: "\(Self.version)")
    }
    site = try reader.name("site")
    receiver = try reader.name("receiver")
    boot = try reader.boot("boot")
    number = try reader.integer("number", 1...Self.maximumNumber)
    time = try reader.time("time")
    seconds = try reader.number("seconds", 0.001...3600, decimals: 1000)
    reception = try reader.reception("receptionLost")
    configuration = try reader.configuration("configuration")
    beacons = try reader.beacons("beacons")
    delay =
      members["delay"] == nil
      ? 0 : try reader.number("delay", 0...Self.maximumDelay, decimals: 1000)
  }
}

private struct Members {
  private let members: [String: JSONValue]
  private let path: String

  init(_ members: [String: JSONValue], path: String) {
    self.members = members
    self.path = path
  }

  private func error(_ key: String, _ rule: String) -> ReportError {
    ReportError(path + key, must: rule)
  }

  func integer(_ key: String, _ range: ClosedRange<Int>) throws(ReportError) -> Int {
    guard let number = members[key]?.asInt, range.contains(number) else {
      throw error(key, "an integer from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// Reads a number, and rounds it as reports state it.
  func number(
    _ key: String, _ range: ClosedRange<Double>, decimals scale: Double
  ) throws(ReportError) -> Double {
    let number = members[key]?.asDouble.map { ($0 * scale).rounded() / scale }
    guard let number, range.contains(number) else {
      throw error(key, "a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  func isNull(_ key: String) -> Bool { members[key] == .null }

  func name(_ key: String) throws(ReportError) -> String {
    guard let text = members[key]?.asString, FleetTopic.isName(text) else {
      throw error(
        key, "1 to \(FleetTopic.maximumNameLength) ASCII letters, digits, '_' and '-'")
    }
    return text
  }

  func boot(_ key: String) throws(ReportError) -> UInt64 {
    guard let number = members[key]?.asString.flatMap({ UInt64(digits: $0) }) else {
      throw error(key, "16 hexadecimal digits")
    }
    return number
  }

  private func version(_ key: String) throws(ReportError) -> ConfigurationVersion? {
    if members[key] == nil { return nil }
    guard let version = members[key]?.asString.flatMap({ ConfigurationVersion($0) }) else {
      throw error(key, "16 hexadecimal digits")
    }
    return version
  }

  func time(_ key: String) throws(ReportError) -> WallClockTime {
    guard let text = members[key]?.asString, let time = WallClockTime(reported: text) else {
      throw error(key, "a time from 1970 to 2199 such as 2026-01-01T00:00:00.000Z")
    }
    return time
  }

  func reception(_ key: String) throws(ReportError) -> ReceiverReport.Reception {
    isNull(key) ? .receiving : .lost(try reason(key, "null, or "))
  }

  private func reason(_ key: String, _ other: String = "") throws(ReportError) -> String {
    guard let reason = members[key]?.asString,
      reason.unicodeScalars.count <= ReceiverReport.maximumReasonLength
    else {
      throw error(
        key, "\(other)a text of \(ReceiverReport.maximumReasonLength) characters")
    }
    return reason
  }

  func configuration(_ key: String) throws(ReportError) -> ReceiverReport.Configuration {
    if members[key] == nil { return ReceiverReport.Configuration() }
    guard case .object(let inner)? = members[key] else { throw error(key, "a JSON object") }
    let reader = Members(inner, path: "\(key).")
    return ReceiverReport.Configuration(
      version: try reader.version("version"), trial: try reader.version("trial"),
      refusal: try reader.version("refused").map { version throws(ReportError) in
        ReceiverReport.Configuration.Refusal(version, try reader.reason("reason"))
      })
  }

  func beacons(_ key: String) throws(ReportError) -> [ReceiverReport.Beacon] {
    guard let list = members[key]?.asArray, list.count <= ReceiverReport.maximumBeacons else {
      throw error(key, "a list of at most \(ReceiverReport.maximumBeacons) beacons")
    }
    var beacons: [ReceiverReport.Beacon] = []
    beacons.reserveCapacity(list.count)
    var known: Set<BeaconIdentity> = []
    for (index, value) in list.enumerated() {
      guard case .object(let members) = value else {
        throw error("\(key)[\(index)]", "a JSON object")
      }
      let beacon = try Members(members, path: "\(key)[\(index)].").beacon()
      guard known.insert(beacon.beacon).inserted else {
        throw error("\(key)[\(index)].beacon", "another one than those before")
      }
      beacons.append(beacon)
    }
    return beacons
  }

  private func beacon() throws(ReportError) -> ReceiverReport.Beacon {
    guard let constraint = members["beacon"]?.asString.flatMap({ BeaconConstraint($0) }),
      let major = constraint.major, let minor = constraint.minor
    else { throw error("beacon", "a beacon such as E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:1:2") }
    var signal: ReceiverReport.Signal?
    if !isNull("rssi") || !isNull("variance") || !isNull("maximum") {
      let maximum = try integer("maximum", -127...20)
      signal = ReceiverReport.Signal(
        mean: try number("rssi", -127...Double(maximum), decimals: 100),
        variance: try number("variance", 0...5403, decimals: 100), maximum: Int8(maximum))
    }
    return ReceiverReport.Beacon(
      BeaconIdentity(uuid: constraint.uuid, major: major, minor: minor),
      sightings: try integer("sightings", 1...ReceiverReport.maximumSightings), signal: signal,
      measuredPower: Int8(try integer("power", -128...127)))
  }
}

extension WallClockTime {
  /// Reads a time in UTC such as `2026-01-01T00:00:00.000Z`, with at most nine decimals, cut to
  /// milliseconds.
  fileprivate init?(reported text: String) { self.init(reported: Array(text.utf8)) }

  init?(reported bytes: [UInt8]) {
    guard (20...30).contains(bytes.count), bytes.last == UInt8(ascii: "Z") else { return nil }
    func number(_ range: Range<Int>) -> Int64? {
      var number: Int64 = 0
      for byte in bytes[range] {
        guard (0x30...0x39).contains(byte) else { return nil }
        number = number * 10 + Int64(byte - 0x30)
      }
      return number
    }
    guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
      let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
      (1970...2199).contains(year)
    else { return nil }
    var fraction: Int64 = 0
    if bytes.count > 20 {
      let digits = bytes.count - 21
      guard bytes[19] == UInt8(ascii: "."), digits > 0, let read = number(20..<20 + digits) else {
        return nil
      }
      fraction = (digits..<9).reduce(read) { number, _ in number * 10 }
    }
    // Howard Hinnant's days_from_civil (<https://howardhinnant.github.io/date_algorithms.html>).
    let marchYear = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = (marchYear / 400, marchYear % 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    let days = era * 146_097 + dayOfEra - 719_468
    let seconds = days * 86400 + hour * 3600 + minute * 60 + second
    self.init(nanoseconds: seconds * 1_000_000_000 + fraction / 1_000_000 * 1_000_000)
    // February 30 and the minute 60 have another text.
    guard bytes.starts(with: description.utf8.prefix(19)) else { return nil }
  }
}
