import ArgumentParser
import CaptureFiles
import Scanning

/// Where the sightings come from: recordings, or adapters.
struct SourceOptions: ParsableArguments {
  @OptionGroup var recordings: ReplayOptions
  @OptionGroup var adapters: AdapterOptions

  func validate() throws {
    if !recordings.replay.isEmpty, let option = adapters.given {
      throw ValidationError(
        "\(option) is for live scanning, and --replay is not; give one of them.")
    }
    if isLive, recordings.follow || recordings.speed != .max {
      let option = recordings.follow ? "--follow" : "--speed"
      throw ValidationError("\(option) belongs to a recording; name it with --replay FILE.")
    }
  }

  /// Whether adapters receive.
  var isLive: Bool { recordings.replay.isEmpty }

  /// Opens the recordings, or the adapters.
  ///
  /// - Parameters:
  ///   - offsets: How much stronger than true adapters receive, in dB.
  ///   - packetTap: Is handed every HCI packet.
  /// - Returns: A scanner that can be used.
  /// - Throws: `CommandError` where it cannot.
  func open(offsets: [(AdapterName, Double)] = [], packetTap: PacketTap? = nil) throws
    -> any Scanner
  {
    guard isLive else { return try recordings.open(offsets: offsets, packetTap: packetTap) }
    return limit(
      try LiveSource.open(adapters.request(offsets: offsets), packetTap: packetTap))
  }

  /// A live scanner that ends after the time that was given.
  func limit(_ scanner: any Scanner) -> any Scanner {
    recordings.nanoseconds.map { LimitedScanner(scanner, duration: $0) } ?? scanner
  }
}
