/// The application that a connected program belongs to, as the kernel and systemd describe it.
package struct AppIdentity: Hashable, Sendable, Codable {
  /// How well the identifier is known.
  package enum Strength: Int, Sendable, Codable, Comparable {
    /// A claim: the path of the program, or a unit of the user's manager, which programs of the
    /// same user can imitate.
    case claim = 1
    /// A sandbox, whose programs cannot leave its control group.
    case sandbox
    /// A unit of the system, which only root can define.
    case systemUnit

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  package let strength: Strength
  /// The numeric identifier of the user.
  package let user: UInt32
  /// The name of the unit or sandbox, or the path of the program.
  package let identifier: String

  package init(_ identifier: String, strength: Strength, user: UInt32) {
    self.identifier = identifier
    self.strength = strength
    self.user = user
  }
}
