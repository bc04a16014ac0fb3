import Advertising
import Scanning

/// Writes sightings, one a line.
struct SightingWriter {
  let format: OutputFormat
  let output: StandardOutput

  /// The name that the system gives an adapter.
  static func name(ofAdapter number: UInt16) -> String { "hci\(number)" }

  /// Writes the header, where the format has one and it is not there yet.
  func writeHeader() throws {
    guard !output.hasWritten else { return }
    switch format {
    case .json: break
    case .csv:
      try output.write(
        "time,uuid,major,minor,measuredPower,rssi,address,addressType\n")
    case .table:
      try output.write(
        "TIME             UUID                                  MAJOR  MINOR  POWER  RSSI  ADDRESS\n"
      )
    }
  }

  /// Writes one sighting.
  ///
  /// - Parameters:
  ///   - sighting: The sighting.
  ///   - adapter: The name of the adapter by which it came; `nil` where nobody knows.
  /// - Throws: As ``StandardOutput/flush()``.
  func write(_ sighting: Sighting, adapter: String?) throws {
    try writeHeader()
    let address = sighting.addressType == .anonymous ? nil : sighting.address.description
    switch format {
    case .json:
      var object = JSONObject(type: "sighting")
      object.set("time", sighting.wallTime)
      object.set(sighting.beacon)
      object.set("measuredPower", sighting.measuredPower)
      object.set("rssi", sighting.rssi)
      object.set("address", address)
      object.set("addressType", sighting.addressType.description)
      if let adapter { object.set("adapter", adapter) }
      try output.write { object.line(into: &$0) }
    case .csv:
      try output.write(
        csvRow([
          sighting.wallTime.description, sighting.beacon.uuid.description,
          String(sighting.beacon.major), String(sighting.beacon.minor),
          String(sighting.measuredPower), sighting.rssi.map { String($0) }, address,
          sighting.addressType.description,
        ]))
    case .table:
      let time = sighting.wallTime.description.dropFirst(11).dropLast()
      try output.write(
        "\(time)  \(sighting.beacon.uuid)  "
          + padded(sighting.beacon.major, 5) + "  " + padded(sighting.beacon.minor, 5) + "  "
          + padded(sighting.measuredPower, 5) + "  "
          + (sighting.rssi.map { padded($0, 4) } ?? "   –") + "  \(address ?? "anonymous")\n")
    }
  }

  private func padded(_ value: some BinaryInteger, _ width: Int) -> String {
    let text = String(value)
    return String(repeating: " ", count: max(0, width - text.count)) + text
  }
}
