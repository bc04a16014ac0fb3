import Advertising
import Ranging
import Records
import Scanning

struct NamedBeacon: Sendable {
  var name: String
  var identity: BeaconIdentity
  var calibration = Calibration()
  /// The only sender whose adverts count.
  var sender: BluetoothAddress?
  var file: String

  var constraint: BeaconConstraint {
    BeaconConstraint(uuid: identity.uuid, major: identity.major, minor: identity.minor)
  }

  static let record = RecordType<NamedBeacon>(
    "namedBeacon", Field.identity { $0.identity },
    [
      Field("power", .number(-100...0).orNull, decimals: 2, column: Column(nil, .right)) {
        $0.calibration.measuredPower
      },
      Field("exponent", .number(0...10).orNull, decimals: 3, column: Column(nil, .right)) {
        if case .logDistance(let exponent) = $0.calibration.model { exponent } else { nil }
      },
      Field("offset", .number(-50...50).orNull, decimals: 2, column: Column(nil, .right)) {
        $0.calibration.adapterOffset
      },
      Field("address", .address, column: Column()) { $0.sender },
      Field("file", .text, column: Column()) { $0.file },
    ])
}
