import DBusMessages
import Foundation
package import TestSupport
package import Testing

extension Trait where Self == ConditionTrait {
  /// Tests that need polkit are skipped where it is not installed, or may not be shown other files.
  package static var polkit: Self {
    .enabled(
      if: PolkitDaemon.isInstalled && Daemon.canMount,
      "polkitd is missing (install it: Scripts/setup.sh --ci), or files cannot be mounted here")
  }
}

/// polkit on a bus of the test's own, with the package's actions and the test's rules.
package final class PolkitDaemon {
  private let daemon: Daemon
  private let scratch: Scratch

  fileprivate static let isInstalled = FileManager.default.isExecutableFile(atPath: program)
  private static let program = "/usr/lib/polkit-1/polkitd"

  /// Rules for a ``TestSupport/BusDaemon`` on which polkitd, which has its own user, may connect.
  package static let busRules = "<allow user=\"*\"/>"

  /// Starts polkit with the text of a file of rules, and of the package's policy.
  package init(on bus: BusDaemon, rules: String, policy: String, in scratch: Scratch) throws {
    self.scratch = scratch
    try scratch.makeFolder("rules.d")
    try scratch.makeFolder("actions")
    try scratch.write(Array(rules.utf8), "rules.d/50-test.rules")
    try scratch.write(Array(policy.utf8), "actions/org.beaconscan.policy")
    let script = """
      mount --bind "$0" /usr/share/polkit-1/actions && mount --bind "$1" /etc/polkit-1/rules.d &&
      mount --bind "$1" /usr/share/polkit-1/rules.d && exec \(Self.program)
      """
    daemon = try Daemon(
      [
        "/usr/bin/unshare", "-m", "sh", "-c", script, scratch["actions"], scratch["rules.d"],
      ], environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address], log: scratch["polkit.log"])
    let observer = try BusConnection(.address(bus.address))
    let isThere = try eventually {
      try observer.owner(of: "org.freedesktop.PolicyKit1") != nil || !daemon.isRunning
    }
    guard isThere, daemon.isRunning else {
      throw NoPolkit(log: String(decoding: try scratch.bytes("polkit.log"), as: UTF8.self))
    }
  }

  private struct NoPolkit: Error, CustomStringConvertible {
    let log: String
    var description: String { "polkitd did not start: \(log)" }
  }

  /// Replaces the rules, as an editor does.
  package func setRules(_ rules: String) throws {
    try scratch.write(Array(rules.utf8), "rules.d/50-test.rules")
  }

  /// Stops it until ``resume()``: it neither reads nor answers.
  package func pause() { daemon.pause() }
  package func resume() { daemon.resume() }
  package func kill() { daemon.kill() }
}
