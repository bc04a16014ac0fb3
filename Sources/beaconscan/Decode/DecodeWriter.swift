import Advertising

/// Writes adverts that were taken apart.
struct DecodeWriter {
  let output: StandardOutput

  func write(_ advert: AdvertDescription, _ format: OutputFormat) throws {
    switch format {
    case .json: try writeJSON(advert)
    case .csv: try writeCSV(advert)
    case .table: try writeTable(advert)
    }
  }

  private func writeJSON(_ advert: AdvertDescription) throws {
    var object = JSONObject(type: "advert")
    object.set("input", advert.input.rawValue)
    if let header = advert.header {
      object.set(
        "address", header.addressType == .anonymous ? nil : header.address.description)
      object.set("addressType", header.addressType.description)
      object.set("eventType", header.eventType.rawValue)
      object.set("rssi", header.rssi)
    }
    object.set(
      "structures",
      advert.structures.map { structure in
        var object = JSONObject()
        object.set("offset", structure.offset)
        object.set("type", structure.type.rawValue)
        object.set("name", structure.type.description)
        object.set("data", structure.data)
        return object
      })
    object.set("beacons", advert.beacons.map(\.json))
    object.set(
      "problems",
      advert.problems.map { problem in
        var object = JSONObject()
        object.set("offset", problem.offset)
        object.set("reason", problem.reason)
        return object
      })
    try output.write { object.line(into: &$0) }
  }

  private func writeCSV(_ advert: AdvertDescription) throws {
    if !output.hasWritten { try output.write("item,offset,name,value\n") }
    for structure in advert.structures {
      try output.write(
        csvRow([
          "structure", String(structure.offset), structure.type.description, structure.data,
        ]))
    }
    for beacon in advert.beacons {
      for (name, value) in beacon.fields {
        try output.write(csvRow(["beacon", nil, "\(beacon.name) \(name)", value]))
      }
    }
    for problem in advert.problems {
      try output.write(csvRow(["problem", String(problem.offset), nil, problem.reason]))
    }
  }

  private func writeTable(_ advert: AdvertDescription) throws {
    if let header = advert.header {
      let address =
        header.addressType == .anonymous ? "anonymous" : "\(header.address) (\(header.addressType))"
      try output.write("from \(address), RSSI \(header.rssi.map { "\($0) dBm" } ?? "unknown")\n")
    }
    var table = Table([("OFFSET", .right), ("TYPE", .left), ("DATA", .left)])
    for structure in advert.structures {
      table.add([String(structure.offset), structure.type.description, structure.data])
    }
    if !advert.structures.isEmpty { for line in table.lines { try output.write(line + "\n") } }
    for beacon in advert.beacons {
      try output.write("\(beacon.name)\n")
      for (name, value) in beacon.fields { try output.write("  \(name): \(value)\n") }
    }
    if advert.beacons.isEmpty { try output.write("no beacon\n") }
    for problem in advert.problems {
      try output.write("byte \(problem.offset): \(problem.reason)\n")
    }
  }
}
