package import Advertising
import Synchronization

/// The names that a user gave to beacons.
///
/// Every record that has a beacon's identity has its name too, so they are one for the process: given before the first
/// record, and again where a service reads its configuration again. Whether rows and tables have a column for names, and
/// how wide it is, stays as it was at the first.
package enum BeaconNames {
  private static let given = Mutex<[BeaconIdentity: String]>([:])
  /// Where no beacon has a name, none costs a lock.
  private static let areAny = Atomic<Bool>(false)

  /// Gives beacons their names, and takes those that they had.
  package static func give(_ names: [BeaconIdentity: String]) {
    given.withLock { $0 = names }
    areAny.store(!names.isEmpty, ordering: .releasing)
  }

  /// Returns the name of a beacon.
  package static func name(of beacon: BeaconIdentity) -> String? {
    areAny.load(ordering: .acquiring) ? given.withLock { $0[beacon] } : nil
  }

  private static let haveColumn = areAny.load(ordering: .acquiring)

  /// The width of the longest name, within reason.
  static let width = min(
    max(8, given.withLock { $0.values.lazy.map(\.columns).max() } ?? 0), 40)

  /// Returns the field of a beacon's name, which is left out where it has none. Rows have a column for it only where
  /// beacons have names, and so have tables, unless another column shows the name.
  static func field<Value>(
    hasColumn: Bool = true, of beacon: @escaping @Sendable (Value) -> BeaconIdentity?
  ) -> Field<Value> {
    Field(
      "name", .text, .whereNamed, csv: haveColumn ? .sameName : .none,
      column: haveColumn && hasColumn
        ? Column(width: width, priority: .key, fit: .cut(to: 8)) : nil
    ) { (value: Value) -> FieldValue in beacon(value).flatMap(name).map { .text($0) } ?? .absent }
  }
}

extension BeaconIdentity {
  /// The name that the user gave, else major and minor.
  package var shortName: String { BeaconNames.name(of: self) ?? "\(major):\(minor)" }
}
