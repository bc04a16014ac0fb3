import Advertising

extension AdvertDescription.Beacon {
  /// What kind of beacon it is.
  var name: String {
    switch self {
    case .ibeacon: "ibeacon"
    case .altBeacon: "altbeacon"
    case .eddystone(.uid): "eddystone-uid"
    case .eddystone(.url): "eddystone-url"
    case .eddystone(.telemetry), .eddystone(.otherTelemetry): "eddystone-tlm"
    case .eddystone(.eid): "eddystone-eid"
    }
  }

  /// The fields as JSON.
  var json: JSONObject {
    var object = JSONObject()
    object.set("type", name)
    switch self {
    case .ibeacon(let frame):
      object.set(frame.identity)
      object.set("measuredPower", frame.measuredPower)
      object.set("trailingByte", frame.hasTrailingByte)
    case .altBeacon(let frame):
      object.set(frame.identity)
      object.set("measuredPower", frame.measuredPower)
      object.set("manufacturerReserved", frame.manufacturerReserved)
    case .eddystone(.uid(let txPower, let namespace, let instance)):
      object.set("txPower", txPower)
      object.set("namespace", namespace)
      object.set("instance", instance)
    case .eddystone(.url(let txPower, let url)):
      object.set("txPower", txPower)
      object.set("url", url)
    case .eddystone(.telemetry(let voltage, let temperature, let adverts, let uptime)):
      object.set("voltage", voltage)
      object.set("temperature", temperature, decimals: 2)
      object.set("advertisingCount", adverts)
      object.set("secondsSinceBoot", uptime, decimals: 1)
      object.set("tenthsSinceBoot", Int((uptime * 10).rounded()))
    case .eddystone(.otherTelemetry(let version)):
      object.set("version", version)
    case .eddystone(.eid(let txPower, let identifier)):
      object.set("txPower", txPower)
      object.set("eid", identifier)
    }
    return object
  }

  /// The fields with their units, for people.
  var fields: [(name: String, value: String)] {
    switch self {
    case .ibeacon(let frame):
      identity(frame.identity, frame.measuredPower)
        + (frame.hasTrailingByte ? [("trailing", "one byte after the frame")] : [])
    case .altBeacon(let frame):
      identity(frame.identity, frame.measuredPower)
        + (frame.manufacturerReserved.map { [("reserved", "\($0)")] } ?? [])
    case .eddystone(.uid(let txPower, let namespace, let instance)):
      [("power", "\(txPower) dBm at 0 m"), ("namespace", namespace), ("instance", instance)]
    case .eddystone(.url(let txPower, let url)):
      [("power", "\(txPower) dBm at 0 m"), ("URL", url)]
    case .eddystone(.telemetry(let voltage, let temperature, let adverts, let uptime)):
      [
        ("battery", "\(voltage) mV"),
        ("temperature", temperature.map { "\(decimal($0, 2)) °C" } ?? "not measured"),
        ("adverts", "\(adverts)"), ("up", "\(decimal(uptime, 1)) s"),
      ]
    case .eddystone(.otherTelemetry(let version)): [("version", "\(version)")]
    case .eddystone(.eid(let txPower, let identifier)):
      [("power", "\(txPower) dBm at 0 m"), ("identifier", identifier)]
    }
  }

  private func identity(_ identity: BeaconIdentity, _ power: Int8) -> [(String, String)] {
    [
      ("UUID", "\(identity.uuid)"), ("major", "\(identity.major)"), ("minor", "\(identity.minor)"),
      ("measured power", "\(power) dBm at 1 m"),
    ]
  }
}
