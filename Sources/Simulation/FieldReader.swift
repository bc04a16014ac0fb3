import Records
import Scanning

/// A reader of a scenario's object. It rejects unknown keys, and names the path of an invalid
/// value.
struct FieldReader {
  private let container: KeyedDecodingContainer<Key>

  struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }

    init?(intValue: Int) { nil }
  }

  init(_ decoder: any Decoder, keys: [String]) throws {
    do {
      container = try decoder.container(keyedBy: Key.self)
    } catch is DecodingError {
      let path = Self.path(of: decoder.codingPath)
      throw ScenarioError("\(path.isEmpty ? "the scenario" : path) must be an object")
    }
    // Sorted, so that a file always gives the same message.
    let unknown = container.allKeys.map(\.stringValue).filter { !keys.contains($0) }.sorted()
    if let key = unknown.first {
      let known = keys.joined(separator: ", ")
      throw fail(key, "is not a key; known are \(known)")
    }
  }

  var path: String { Self.path(of: container.codingPath) }

  private static func path(of keys: [any CodingKey]) -> String {
    keys.reduce("") { path, key in
      path + (key.intValue.map { "[\($0)]" } ?? (path.isEmpty ? "" : ".") + key.stringValue)
    }
  }

  func has(_ key: String) -> Bool { container.contains(Key(stringValue: key)) }

  func fail(_ key: String, _ words: String) -> ScenarioError {
    ScenarioError("\(path.isEmpty ? "" : path + ".")\(key) \(words)")
  }

  func value<Value: Decodable>(
    _ key: String, _ words: String, default standard: Value? = nil
  ) throws -> Value {
    guard has(key) else {
      guard let standard else { throw fail(key, "is missing") }
      return standard
    }
    do {
      return try container.decode(Value.self, forKey: Key(stringValue: key))
    } catch let error as ScenarioError {
      throw error
    } catch {
      // DecodingError, or JSONDecoder's own error for a number that the type cannot represent.
      throw fail(key, "must be \(words)")
    }
  }

  func number(
    _ key: String, _ range: ClosedRange<Double>, _ unit: String = "",
    default standard: Double? = nil
  ) throws -> Double {
    let number = try value(key, "a number", default: standard)
    try check(number, key, range, unit)
    return number
  }

  func integer(
    _ key: String, _ range: ClosedRange<Int>, _ unit: String = "", default standard: Int? = nil
  ) throws -> Int {
    let number = try value(key, "a whole number", default: standard)
    try check(Double(number), key, Double(range.lowerBound)...Double(range.upperBound), unit)
    return number
  }

  func text(_ key: String, default standard: String? = nil) throws -> String {
    let text: String = try value(key, "text", default: standard)
    guard text.utf8.count <= 4096 else { throw fail(key, "must have at most 4096 bytes") }
    return text
  }

  func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ key: String, default standard: Choice? = nil
  ) throws -> Choice {
    let name = try text(key, default: standard?.rawValue)
    guard let choice = Choice(rawValue: name) else {
      let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw fail(key, "must be one of \(names), not \(name)")
    }
    return choice
  }

  func pair(
    _ key: String, _ range: ClosedRange<Double>, _ unit: String,
    default standard: ClosedRange<Double>? = nil
  ) throws -> ClosedRange<Double> {
    let words = "a list of two numbers, the lower first"
    let pair = try value(key, words, default: standard.map { [$0.lowerBound, $0.upperBound] })
    guard pair.count == 2, pair[0] <= pair[1] else { throw fail(key, "must be \(words)") }
    for (index, number) in pair.enumerated() { try check(number, "\(key)[\(index)]", range, unit) }
    return pair[0]...pair[1]
  }

  func points(
    _ key: String, _ range: ClosedRange<Double>, _ unit: String
  ) throws -> [Scenario.Point] {
    let rows: [[Double]] = try value(key, "a list of [seconds, \(unit)] pairs")
    guard rows.count >= 2 else { throw fail(key, "must have at least two points") }
    guard rows.count <= 10_000 else { throw fail(key, "must have at most 10000 points") }
    var points: [Scenario.Point] = []
    for (index, row) in rows.enumerated() {
      let name = "\(key)[\(index)]"
      guard row.count == 2 else { throw fail(name, "must be a pair of [seconds, \(unit)]") }
      guard row[0] >= 0, row[0] > points.last?.seconds ?? -1 else {
        throw fail("\(name)[0]", "must be a time after the point before, not \(plain(row[0])) s")
      }
      try check(row[1], "\(name)[1]", range, unit)
      points.append((row[0], row[1]))
    }
    return points
  }

  private func check(
    _ number: Double, _ key: String, _ range: ClosedRange<Double>, _ unit: String
  ) throws {
    guard !range.contains(number) else { return }
    let limits = "\(plain(range.lowerBound)) and \(plain(range.upperBound))"
    let suffix = unit.isEmpty ? "" : " \(unit)"
    throw fail(key, "must be between \(limits)\(suffix), not \(plain(number))")
  }
}

func plain(_ number: Double) -> String { Int(exactly: number).map(String.init) ?? "\(number)" }

extension WallClockTime {
  /// Reads `2026-01-01T00:00:00Z`, cut to microseconds; 1970 to 2199.
  init?(rfc3339 text: String) {
    guard text.last == "Z", let written = WrittenTime(text) else { return nil }
    let time = written.time(in: .utc)
    // The function of the C library reads February 30 as March 2, and other times have no "T".
    guard text.utf8.count >= 20, time.description.hasPrefix(text.prefix(19)),
      time.nanoseconds < 7_258_118_400 * Self.nanosecondsPerSecond
    else { return nil }
    self.init(nanoseconds: time.nanoseconds / 1000 * 1000)
  }
}
