package import Advertising
import Synchronization

/// The names that the user gave to beacons, for the whole process.
///
/// They are set before the first record, and again when a service reloads its configuration. The
/// first record decides whether rows and tables have a column for names, and its width.
package enum BeaconNames {
  private static let given = Mutex<[BeaconIdentity: String]>([:])
  /// An unnamed beacon costs no lock if none has a name.
  private static let areAny = Atomic<Bool>(false)

  package static func give(_ names: [BeaconIdentity: String]) {
    given.withLock { $0 = names }
    areAny.store(!names.isEmpty, ordering: .releasing)
  }

  package static func name(of beacon: BeaconIdentity) -> String? {
    areAny.load(ordering: .acquiring) ? given.withLock { $0[beacon] } : nil
  }

  private static let haveColumn = areAny.load(ordering: .acquiring)

  /// The width of the longest name, from 8 to 40 columns of the terminal.
  static let width = min(
    max(8, given.withLock { $0.values.lazy.map(\.columns).max() } ?? 0), 40)

  /// Returns the field of a beacon's name, which a record without one omits. Rows and tables have a
  /// column for it if any beacon has a name. Without `hasColumn`, tables have none.
  static func field<Value>(
    hasColumn: Bool = true, of beacon: @escaping @Sendable (Value) -> BeaconIdentity?
  ) -> Field<Value> {
    Field(
      "name", .text, .sometimes, isInCSV: haveColumn,
      column: haveColumn && hasColumn
        ? Column(width: width, priority: .key, fit: .cut(to: 8)) : nil
    ) { (value: Value) -> FieldValue in beacon(value).flatMap(name).map { .text($0) } ?? .absent }
  }
}

extension BeaconIdentity {
  /// The name that the user gave, else major and minor.
  package var shortName: String { BeaconNames.name(of: self) ?? "\(major):\(minor)" }
}
