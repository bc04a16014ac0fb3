package import Scanning

// The messages between the daemon and a program that manages apps: one line of JSON each, on a
// connection of their own. docs/daemon.md describes them.

/// A message of a program that asks a person, or manages apps. The first one takes the place of an
/// app's ``AppMessage/hello(_:)``.
package enum ManagementMessage: Codable, Sendable {
  /// Registers the program as an agent, which is sent questions from now on.
  case agent
  /// A person's answer to a question.
  case answer(question: UInt64, answer: ConsentAnswer)
  /// Registers the program as one that starts its user's apps, and is sent orders from now on.
  case session
  /// The app of an order was started, or not, for a reason.
  case launched(order: UInt64, failure: String?)
  /// Requests the apps that the program may see.
  case apps
  /// Removes a person's decision about an app, or denies the app. `user` may be left out where only
  /// one user has the app.
  case revoke(app: String, user: UInt32?, denying: Bool)
}

/// A message of the daemon: the answer to a ``ManagementMessage``, or a question to an agent.
package enum ManagementReply: Codable, Sendable {
  case done
  case apps([AppReport])
  /// The message has no effect, as the sentence explains.
  case failed(String)
  case consent(ConsentMessage)
  case launch(LaunchOrder)
}

/// An app: the decision about it, and its use of the services.
package struct AppReport: Codable, Hashable, Sendable {
  package let decision: AppRecord
  package let use: AppUse
}

/// The use that an app makes of the services.
package struct AppUse: Codable, Hashable, Sendable {
  /// The numbers of the connected processes.
  package var processes: [Int32] = []
  /// The number of regions of beacons, and of circles.
  package var regions = 0
  /// The app's part of the scan.
  package var beacons = ScanDemand.none
  /// Whether the app needs a source of locations or headings.
  package var locations = false
  /// The number of events that were sent to the app since the daemon knows it.
  package var events: UInt64 = 0
  /// The attempts to start the app for events that wait; `nil` if none wait.
  package var relaunch: RelaunchReport?

  package init() {}
}
