import TestSupport
import Testing

@testable import AppDaemon

@Suite struct AppIdentityTests {
  @Test func aSystemUnitIsKnownBestAndAClaimLeast() {
    typealias Strength = AppIdentity.Strength
    #expect([Strength.systemUnit, .claim, .sandbox].sorted() == [.claim, .sandbox, .systemUnit])
  }

  @Test(arguments: [
    (
      "kiosk.service", AppIdentity.Strength.systemUnit, "1000-kiosk.service",
      "the system's service kiosk.service"
    ),
    (
      "flatpak:com.example.App", .sandbox, "1000-flatpak:com.example.App",
      "the Flatpak com.example.App"
    ),
    ("snap:example", .sandbox, "1000-snap:example", "the snap example"),
    ("user:kiosk.service", .claim, "1000-user:kiosk.service", "the user's service kiosk.service"),
    (
      "/usr/bin/50% ä\n", .claim, "1000-%2Fusr%2Fbin%2F50%25%20%C3%A4%0A",
      "the program /usr/bin/50% ä\n"
    ),
    ("name:kiosk", .claim, "1000-name:kiosk", "the program kiosk"),
  ]) func anAppHasAFileNameAndWords(
    identifier: String, strength: AppIdentity.Strength, file: String, words: String
  ) {
    let app = AppIdentity(identifier, strength: strength, user: 1000)
    #expect(app.fileName == file)
    #expect("\(app)" == words)
  }
}

@Suite struct ProgramTests {
  @Test(arguments: [
    ("/usr/bin/kiosk", "other", "/usr/bin/kiosk"),
    ("/opt/ä b/kiosk", "kiosk", "/opt/ä b/kiosk"),
    ("/usr/bin/kiosk (deleted)", "kiosk", "/usr/bin/kiosk"),
    (nil, "kiosk\n", "name:kiosk"), (nil, "kiosk.service\n", "name:kiosk.service"),
    (nil, "", "name:"), ("", "kiosk", "name:kiosk"), (" (deleted)", "kiosk", "name:kiosk"),
    ("(unreachable)/usr/bin/kiosk", "kiosk", "name:kiosk"),
    // A terminal would obey it, and a reader would see another name.
    ("/tmp/\u{1B}[2J", "\u{1B}[2J", "name:[2J"), ("/tmp/\u{202E}x", "\u{202E}x", "name:x"),
    ("/" + String(repeating: "a", count: 200), "kiosk", "name:kiosk"),
  ]) func aProgramIsAClaim(path: String?, name: String, identifier: String) {
    let app = AppIdentity(program: path, name: name, user: 1000)
    #expect(app == AppIdentity(identifier, strength: .claim, user: 1000))
  }
}

@Suite struct ControlGroupTests {
  private static let manager = "/user.slice/user-1000.slice/user@1000.service"

  /// Paths of real systems: Debian 12, Ubuntu 24.04, Fedora 41, with GNOME, KDE, Docker, LXC.
  @Test(arguments: [
    ("0::/system.slice/kiosk.service", "kiosk.service", AppIdentity.Strength.systemUnit),
    ("0::/system.slice/kiosk.service/worker", "kiosk.service", .systemUnit),
    ("0::/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service", .systemUnit),
    ("0::/kiosk.slice/kiosk.service", "kiosk.service", .systemUnit),
    ("0::/system.slice/_memory.service", "memory.service", .systemUnit),
    ("0::/system.slice/a\\x2db.service", "a\\x2db.service", .systemUnit),
    ("0::/system.slice/snap.lxd.daemon.service", "snap.lxd.daemon.service", .systemUnit),
    (
      "12:pids:/user.slice\n1:name=systemd:/system.slice/kiosk.service\n0::/",
      "kiosk.service", .systemUnit
    ),
    (
      "1:name=systemd:/system.slice/kiosk.service\n0::/system.slice/kiosk.service",
      "kiosk.service", .systemUnit
    ),
    ("1:name=systemd:/system.slice/kiosk.service", "kiosk.service", .systemUnit),
    (
      "0::\(manager)/app.slice/app-flatpak-org.gnome.Maps-2345.scope", "flatpak:org.gnome.Maps",
      .sandbox
    ),
    (
      "0::\(manager)/app.slice/app-flatpak-com.my\\x2dcompany.App-1.scope",
      "flatpak:com.my-company.App", .sandbox
    ),
    (
      "0::\(manager)/app.slice/app-flatpak-a.b.Real-1.scope/app-flatpak-a.b.Forged-2.scope",
      "flatpak:a.b.Real", .sandbox
    ),
    (
      "0::\(manager)/app.slice/snap.firefox.firefox-3a9f12e4-7c1b-4a6e-9d4e-1c2d3e4f5a6b.scope",
      "snap:firefox", .sandbox
    ),
    (
      "0::/user.slice/user-1000.slice/snap.gnome-maps.gnome-maps.b1c2.scope", "snap:gnome-maps",
      .sandbox
    ),
    ("0::\(manager)/app.slice/snap.my_two.app.service", "snap:my_two", .sandbox),
    ("0::\(manager)/app.slice/kiosk.service", "user:kiosk.service", .claim),
    ("0::\(manager)/session.slice/kiosk@1.service", "user:kiosk@1.service", .claim),
    ("0::\(manager)/app.slice/app-kiosk.slice/kiosk.service", "user:kiosk.service", .claim),
  ]) func theGroupNamesTheApp(text: String, identifier: String, strength: AppIdentity.Strength) {
    let app = AppIdentity(controlGroups: text + "\n", user: 1000)
    #expect(app == AppIdentity(identifier, strength: strength, user: 1000))
  }

  @Test(arguments: [
    "", "\n", "0::/", "0::", "0:", ":::", "0::kiosk.service", "0:://", "0::/system.slice",
    "0::/system.slice/", "0::/init.scope", "0::/kiosk.service", "0::/../kiosk.service",
    "0::/../system.slice/kiosk.service", "0::/system.slice/../kiosk.service",
    "0::/system.slice/kiosk.service (deleted)", "0::/system.slice/kiosk\u{0}.service",
    "0::/system.slice/a b.service", "0::/system.slice/ä.service",
    "0::/system.slice/docker-0a1b.scope", "0::/system.slice/docker-0a1b.scope/kiosk.service",
    "0::/docker/0a1b", "0::/lxc.payload.c1/system.slice/kiosk.service",
    "0::/machine.slice/systemd-nspawn@c1.service/payload/system.slice/kiosk.service",
    "0::/machine.slice/libpod-0a1b.scope/container/kiosk.service",
    "0::/kiosk.slice/user@1000.service/app.slice/x.service",
    "2:name=systemd/system.slice/kiosk.service", "3:cpu:/system.slice/kiosk.service",
    "1:name=other:/system.slice/kiosk.service",
    "0::/user.slice/user-1000.slice/session-3.scope",
    "0::/user.slice/user-1000.slice/session-3.scope/system.slice/kiosk.service",
    "0::\(manager)", "0::\(manager)/", "0::\(manager)/app.slice", "0::\(manager)/init.scope",
    "0::\(manager)/app.slice/app-gnome-org.gnome.Terminal-1234.scope",
    "0::\(manager)/app.slice/app-org.kde.konsole@3f2a.service",
    "0::\(manager)/app.slice/dbus-:1.2-org.gnome.Maps@0.service",
    "0::\(manager)/app.slice/vte-spawn-1.scope/app-flatpak-a.b.Forged-2.scope",
    "0::\(manager)/app.slice/app-flatpak-org.gnome.Maps.scope",
    "0::\(manager)/app.slice/app-flatpak--1.scope", "0::\(manager)/app.slice/app-flatpak-a-1.scope",
    "0::\(manager)/app.slice/app-flatpak-a.b\\x2fc-1.scope",
    "0::\(manager)/app.slice/app-flatpak-a.b\\x2-1.scope",
    "0::\(manager)/app.slice/app-flatpak-a.b\\x+f-1.scope",
    "0::\(manager)/app.slice/app-flatpak-a.b\\-1.scope",
    "0::\(manager)/app.slice/app-flatpak-a.b\\xff-1.scope",
    "0::\(manager)/app.slice/snap.firefox.scope", "0::\(manager)/app.slice/snap..app-1.scope",
    "0::\(manager)/app.slice/snap.x.scope", "0::\(manager)/app.slice/snap.fire\\x2ffox.app.service",
    "0::/system.slice/\(String(repeating: "a", count: 200)).service",
  ]) func aGroupThatNamesNoAppIsNone(text: String) {
    #expect(AppIdentity(controlGroups: text, user: 1000) == nil)
  }

  @Test func brokenTextsAreReadToTheEnd() {
    let text =
      "1:name=systemd:/\n0::\(Self.manager)/app.slice/app-flatpak-com.my\\x2dcompany.App-1.scope\n"
    for count in 0...text.utf8.count {
      _ = AppIdentity(controlGroups: String(text.prefix(count)), user: 1000)
    }
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix64(seed: seed)
    let parts = [
      "0::", "/", ":", "\n", "..", "user.slice", "system.slice", "user@1000.service", ".scope",
      "app-flatpak-", "snap.", "a.b", "\\x2d", "\\", "x", "-1", ".service", "_", "ä", "\u{0}",
    ]
    for _ in 0..<20_000 {
      let count = Int.random(in: 0...12, using: &random)
      let text = (0..<count).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
      guard let app = AppIdentity(controlGroups: text, user: 1000) else { continue }
      // A claim never has the form of a better known app.
      switch app.strength {
      case .systemUnit: #expect(!app.identifier.contains { ":/".contains($0) }, "\(seed) \(text)")
      case .sandbox:
        let isSandbox = ["flatpak:", "snap:"].contains { app.identifier.hasPrefix($0) }
        #expect(isSandbox, "\(seed) \(text)")
      case .claim: #expect(app.identifier.hasPrefix("user:"), "\(seed) \(text)")
      }
    }
  }
}
