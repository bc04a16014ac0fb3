import CoreLocation

/// Every member that docs/corelocation.md says to be there, used in code: one that goes breaks the build,
/// and a row of the table without a use fails ``MemberTableTests``.
struct MemberUses {
  /// What a use is given.
  struct Stage {
    let services: LocationServices
    let manager: CLLocationManager
    let delegate: any CLLocationManagerDelegate
    let region: CLBeaconRegion
    let circle = CLCircularRegion(
      center: CLLocationCoordinate2D(latitude: 1, longitude: 2), radius: 100, identifier: "circle")

    var constraint: CLBeaconIdentityConstraint { region.beaconIdentityConstraint }
  }

  typealias Body = (Stage) async -> Void

  /// A member in use.
  struct Use {
    var name: String
    var status: MemberTable.Status
    /// What the delegate is told of it.
    var told: [String]
    var body: Body
  }

  private(set) var all: [Use] = []

  init() {
    useManager()
    useRegions()
    useRanging()
    useMonitors()
    useLocations()
    useHeadings()
    // Old spellings are deprecated; reached through a protocol they bring no warning.
    (self as any OldSpellings).oldSpellings.forEach { all.append($0) }
  }

  /// A member that works.
  mutating func use(_ name: String, _ body: @escaping Body) {
    all.append(Use(name: name, status: .works, told: [], body: body))
  }

  /// A member that is there and can have no effect here.
  mutating func never(_ name: String, tells told: String..., body: @escaping Body) {
    all.append(Use(name: name, status: .notOnLinux, told: told, body: body))
  }
}

/// Who has uses of deprecated members.
protocol OldSpellings {
  var oldSpellings: [MemberUses.Use] { get }
}
