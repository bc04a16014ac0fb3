import Advertising
import Records

extension StandardOutput {
  func write(_ advert: AdvertDescription, _ format: OutputFormat) throws {
    switch format {
    case .json: try writeLine(advert, AdvertDescription.record)
    case .csv: try write(advert.items, AdvertDescription.itemRecord, .csv)
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

private typealias AdvertItem = (item: String, offset: Int?, name: String?, value: String)

extension AdvertDescription {
  fileprivate static let itemRecord = RecordType<AdvertItem>(
    nil,
    [
      Field("item", .text) { $0.item }, Field("offset", .count.orNull) { $0.offset },
      Field("name", .text.orNull) { $0.name }, Field("value", .text) { $0.value },
    ])

  fileprivate var items: [AdvertItem] {
    structures.map { ("structure", $0.offset, $0.type.description, $0.data) }
      + beacons.flatMap { beacon in
        beacon.labels.map { ("beacon", nil, "\(beacon.name) \($0.name)", $0.value) }
      } + problems.map { ("problem", $0.offset, nil, $0.reason) }
  }
}
