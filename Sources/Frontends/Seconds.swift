import Records

/// A time of an option: `10`, `10s`, `250ms`, `15m`, `1h` or `1d`. A number alone is in seconds.
package struct Seconds: CustomStringConvertible, Hashable, Sendable {
  package let value: Double

  package init(_ value: Double) { self.value = value }

  package init?(argument: String) {
    let number = argument.prefix { !$0.isLetter }
    let units = ["": 1, "ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400]
    guard let unit = units[argument.dropFirst(number.count).lowercased()],
      let value = Double(number), value.isFinite
    else { return nil }
    self.value = value * unit
  }

  package var description: String { decimal(value, 3) }

  package static let example =
    "a number of seconds, or one with its unit such as 250ms, 10s, 15m or 1h"
}
