package import Scanning
package import ServiceCore

/// A person's decision about an app.
package struct Decision: Codable, Hashable, Sendable {
  /// Always, when-in-use, or denied.
  package var status: AuthorizationStatus
  /// Whether the person was asked for always, which happens once.
  package var wasAskedForAlways: Bool
  package var since: WallClockTime
  /// The user of the agent that was asked, or of the program that denied the app.
  package var user: UInt32

  package init(
    _ status: AuthorizationStatus, wasAskedForAlways: Bool = false, since: WallClockTime,
    user: UInt32
  ) {
    self.status = status
    self.wasAskedForAlways = wasAskedForAlways
    self.since = since
    self.user = user
  }
}
