import ArgumentParser
import CaptureFiles

/// When the next file is begun, and how many stay.
struct RotationOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Begin the next file before one is larger: 500K, 10M or 1G.",
      discussion:
        "The files are then named FILE-000001-20260131T090000Z and so on, before FILE's ending.",
      valueName: "size"))
  var rotateSize: ByteCount?

  @Option(
    help: ArgumentHelp("Begin the next file after so long: 90s, 15m, 1h or 1d.", valueName: "time"))
  var rotateEvery: TimeSpan?

  @Option(
    help: ArgumentHelp(
      "Keep so many files at most, with those of earlier runs; remove the oldest.",
      valueName: "number"))
  var keep: Int?

  func validate() throws {
    if let keep {
      guard keep >= 1 else { throw ValidationError("--keep must be 1 or more.") }
      if !isGiven {
        throw ValidationError(
          "--keep is for several files; give --rotate-size or --rotate-every, by which the next "
            + "is begun.")
      }
    }
  }

  /// Whether there are several files.
  var isGiven: Bool { rotateSize != nil || rotateEvery != nil }

  /// Puts them where they belong.
  func apply(to configuration: inout RecordingConfiguration) {
    configuration.maximumBytes = rotateSize?.bytes
    configuration.longestTime = rotateEvery?.nanoseconds
    configuration.maximumFiles = keep
  }
}

/// A number of bytes: `10M` is 10 · 2²⁰.
struct ByteCount: ExpressibleByArgument {
  var bytes: Int

  /// Smaller files would be nearly all head.
  static let fewest = 4096

  init?(argument: String) {
    guard let bytes = scaled(argument, ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]),
      bytes >= Self.fewest
    else { return nil }
    self.bytes = bytes
  }
}

/// A span of time: `1h`.
struct TimeSpan: ExpressibleByArgument {
  var nanoseconds: Int64

  init?(argument: String) {
    guard let seconds = scaled(argument, ["S": 1, "M": 60, "H": 3600, "D": 86400]), seconds >= 1,
      seconds <= 1_000_000_000
    else { return nil }
    nanoseconds = Int64(seconds) * 1_000_000_000
  }
}

/// A whole number with a unit, or with none.
private func scaled(_ text: String, _ units: [String: Int]) -> Int? {
  let unit = text.last.map(String.init)?.uppercased() ?? ""
  let scale = units[unit]
  let digits = scale == nil ? text[...] : text.dropLast()
  guard digits.allSatisfy({ ("0"..."9").contains($0) }), let number = Int(digits) else {
    return nil
  }
  let product = number.multipliedReportingOverflow(by: scale ?? 1)
  return product.overflow ? nil : product.partialValue
}
