import Advertising
import Records

extension StandardOutput {
  func write(_ advert: AdvertDescription, _ format: OutputFormat) throws {
    switch format {
    case .json: try writeLine(advert, AdvertDescription.record)
    case .csv: try write(AdvertItem.items(of: advert), AdvertItem.record, .csv)
    case .table: try writeTable(advert)
    }
  }

  private func writeTable(_ advert: AdvertDescription) throws {
    if let header = advert.header {
      let address =
        header.addressType == .anonymous ? "anonymous" : "\(header.address) (\(header.addressType))"
      try write("from \(address), RSSI \(header.rssi.map { "\($0) dBm" } ?? "unknown")\n")
    }
    if !advert.structures.isEmpty {
      try write(advert.structures, AdvertDescription.Structure.record, .table)
    }
    for beacon in advert.beacons {
      try write("\(beacon.name)\n")
      for (name, value) in beacon.labels { try write("  \(name): \(value)\n") }
    }
    if advert.beacons.isEmpty { try write("no beacon\n") }
    for problem in advert.problems { try write("byte \(problem.offset): \(problem.reason)\n") }
  }
}

/// A part of an advert, as a row of CSV.
private struct AdvertItem {
  var item: String
  var offset: Int?
  var name: String?
  var value: String

  static let record = RecordType<AdvertItem>(
    nil,
    [
      Field("item", .text) { $0.item }, Field("offset", .count.orNull) { $0.offset },
      Field("name", .text.orNull) { $0.name }, Field("value", .text) { $0.value },
    ])

  static func items(of advert: AdvertDescription) -> [AdvertItem] {
    advert.structures.map {
      AdvertItem(item: "structure", offset: $0.offset, name: $0.type.description, value: $0.data)
    }
      + advert.beacons.flatMap { beacon in
        beacon.labels.map {
          AdvertItem(item: "beacon", name: "\(beacon.name) \($0.name)", value: $0.value)
        }
      } + advert.problems.map { AdvertItem(item: "problem", offset: $0.offset, value: $0.reason) }
  }
}
