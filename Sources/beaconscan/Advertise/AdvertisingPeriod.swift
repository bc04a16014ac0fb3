import ArgumentParser

/// How often an advert is sent: `100ms`, `0.5s`, `2s`; 20 ms to 10.24 s.
struct AdvertisingPeriod: ExpressibleByArgument, CustomStringConvertible, Hashable {
  /// In units of 0.625 ms.
  let units: UInt32
  /// As it was given.
  let description: String

  /// 100 ms, as Apple has it for beacons.
  static let standard = AdvertisingPeriod(units: 160, description: "100ms")

  private init(units: UInt32, description: String) {
    self.units = units
    self.description = description
  }

  init?(argument: String) {
    let isMilliseconds = argument.hasSuffix("ms")
    guard isMilliseconds || argument.hasSuffix("s"),
      let number = Double(argument.dropLast(isMilliseconds ? 2 : 1))
    else { return nil }
    let milliseconds = isMilliseconds ? number : number * 1000
    guard milliseconds >= 20, milliseconds <= 10240 else { return nil }
    self.init(units: UInt32((milliseconds / 0.625).rounded()), description: argument)
  }
}
