package import Advertising
import Synchronization

/// The names that a user gave to beacons.
///
/// Every record that has a beacon's identity has its name too, so they are one for the process: given once, before
/// the first record.
package enum BeaconNames {
  private static let given = Mutex<[BeaconIdentity: String]>([:])
  /// The names at the first use, after which they do not change: a name costs no lock.
  private static let all = given.withLock { $0 }

  /// Gives beacons their names.
  package static func give(_ names: [BeaconIdentity: String]) { given.withLock { $0 = names } }

  /// Returns the name of a beacon.
  package static func name(of beacon: BeaconIdentity) -> String? { all[beacon] }

  /// The width of the longest name, within reason.
  static let width = min(max(8, all.values.lazy.map(\.columns).max() ?? 0), 40)

  /// Returns the field of a beacon's name, which is left out where it has none. Rows have a column for it only where
  /// beacons have names, and so have tables, unless another column shows the name.
  static func field<Value>(
    hasColumn: Bool = true, of beacon: @escaping @Sendable (Value) -> BeaconIdentity?
  ) -> Field<Value> {
    Field(
      "name", .text, .whereNamed, csv: all.isEmpty ? .none : .sameName,
      column: all.isEmpty || !hasColumn
        ? nil : Column(width: width, priority: .key, fit: .cut(to: 8))
    ) { (value: Value) -> FieldValue in beacon(value).flatMap(name).map { .text($0) } ?? .absent }
  }
}

extension BeaconIdentity {
  /// The name that the user gave, else major and minor.
  package var shortName: String { BeaconNames.name(of: self) ?? "\(major):\(minor)" }
}
