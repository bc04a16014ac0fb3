import Glibc
import HCIPackets
import Sources
import Testing

@testable import LiveScanning

/// Each finding, on hosts that are made up.
@Suite struct DoctorTests {
  /// A finding that is expected of a host, and the command with it.
  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var host: HostView
    var subject: Finding.Subject
    var level = Finding.Level.error
    var words: String
    var command: String?

    var testDescription: String { name }
  }

  @Test func allIsWell() {
    let findings = Doctor.examine(.well)
    #expect(findings.allSatisfy { $0.level == .ok && $0.command == nil })
    #expect(Doctor.obstacle(in: findings) == nil)
    // There is a finding of each subject, in the order in which to repair them, but not of those that
    // concern a held adapter, locations or apps.
    let others: [Finding.Subject] = [
      .held, .backend, .gpsd, .geoclue, .compass, .position, .location, .apps,
    ]
    let subjects = Finding.Subject.allCases.filter { !others.contains($0) }
    #expect(findings.map(\.subject) == subjects)
  }

  @Test(arguments: kernelCases + adapterCases + rightsCases + scanCases + bluezCases)
  func finding(_ one: Case) throws {
    let findings = Doctor.examine(one.host)
    let found = try #require(
      findings.first { $0.subject == one.subject && $0.level == one.level },
      "\(findings.map { "\($0.subject) \($0.level)" })")
    #expect(found.message.contains(one.words))
    #expect(found.command == one.command)
    let first = Doctor.obstacle(in: findings)
    #expect((first == found) == (one.level == .error), "\(String(describing: first))")
  }

  /// Nothing is mended before what it needs: who has rfkill and a missing right to mend is told of both, in
  /// that order.
  @Test func order() {
    let host = HostView.with {
      $0.rights = .nobody
      $0.bluez = nil
      $0.radios = [
        .with {
          $0.adapter.isUp = false
          $0.adapter.block = .soft
          $0.report = ControllerReport()
        }
      ]
    }
    let errors = Doctor.examine(host).filter { $0.level == .error }
    #expect(errors.map(\.subject) == [.rfkill, .power, .permission])
  }

  /// One adapter that works is enough.
  @Test func twoAdapters() {
    let off = HostView.Radio.with(1) {
      $0.adapter.isUp = false
      $0.report = ControllerReport()
    }
    let findings = Doctor.examine(.with { $0.radios.append(off) })
    #expect(Doctor.obstacle(in: findings) == nil)
    let power = findings.filter { $0.subject == .power }
    #expect(power.map(\.adapter) == ["hci0", "hci1"])
    #expect(power.map(\.level) == [.ok, .warning])
    // bluetoothctl would switch on the other one.
    #expect(power[1].command == "sudo btmgmt --index 1 power on")
    let both = HostView.with {
      $0.radios = [off, .with(2) { $0.adapter.block = .hard }]
    }
    #expect(Doctor.obstacle(in: Doctor.examine(both))?.adapter == "hci2")
  }

  /// One way to receive is enough; where neither is free, what prevents each of them is an error.
  @Test(arguments: [
    (true, BlueZView.Obstacle?.none, []), (true, .notRunning, []), (false, nil, []),
    (false, .notRunning, [Finding.Subject.permission, .bluetoothd]),
    (false, .refused(""), [.permission, .policy]), (false, .noBus(""), [.permission, .bus]),
  ])
  func twoWays(mayUseRaw: Bool, obstacle: BlueZView.Obstacle?, errors: [Finding.Subject]) {
    var host = HostView.with {
      $0.rights = mayUseRaw ? .scanner : .nobody
      $0.bluez?.obstacle = obstacle
      $0.backend = "scans receive somehow"
    }
    var findings = Doctor.examine(host)
    #expect(findings.filter { $0.level == .error }.map(\.subject) == errors)
    #expect(findings.contains { $0.level == .warning } == (mayUseRaw != (obstacle == nil)))
    // The way that is taken is shown where there is one.
    #expect(findings.contains { $0.subject == .backend && $0.level == .info } == errors.isEmpty)
    // What both need is an error, and the only one where one of them is free.
    host.radios[0].adapter.isUp = false
    host.radios[0].report = ControllerReport()
    findings = Doctor.examine(host)
    #expect(findings.filter { $0.level == .error }.map(\.subject) == [.power] + errors)
    #expect(!findings.contains { $0.subject == .backend })
  }

  /// A program that was built without raw HCI sockets has bluetoothd alone, and needs no permission for them.
  @Test func withoutRawHCI() {
    var host = HostView.with {
      $0.socketError = HCISocketError.notBuiltIn.errno
      $0.radios = []
      $0.rights = .nobody
    }
    let findings = Doctor.examine(host)
    #expect(findings.first { $0.subject == .network }?.level == .info)
    #expect(!findings.contains { $0.subject == .permission || $0.level == .error })
    host.bluez?.obstacle = .notRunning
    #expect(Doctor.examine(host).filter { $0.level == .error }.map(\.subject) == [.bluetoothd])
    host.bluez = nil
    let obstacle = Doctor.obstacle(in: Doctor.examine(host))
    #expect(
      obstacle?.message == "raw HCI sockets are not built in; build with the package trait RawHCI")
  }

  /// Whatever is true of a host, nothing traps, and what cannot be known is not told.
  @Test(arguments: [EAFNOSUPPORT, EPERM, EACCES, ENOMEM], [true, false])
  func withoutSockets(errno: Int32, hasBluetooth: Bool) {
    let host = HostView.with {
      $0.socketError = errno
      $0.hasBluetooth = hasBluetooth
      $0.radios = []
      $0.bluez = nil
    }
    let findings = Doctor.examine(host)
    #expect(findings.allSatisfy { $0.adapter == nil && $0.subject != .adapter })
    #expect(findings.contains { $0.level == .error } || !hasBluetooth)
  }

  /// To root, sudo may not even be installed.
  @Test func rootNeedsNoSudo() {
    let host = HostView.with {
      $0.rights = .root
      $0.radios = [.with { $0.adapter.block = .soft }]
    }
    let commands = Doctor.examine(host).compactMap(\.command)
    #expect(commands == ["rfkill unblock bluetooth"])
  }

  @Test(arguments: [
    ("/usr/bin/beaconscan", "/usr/bin/beaconscan"), ("/a b/c", "'/a b/c'"),
    ("/it's", #"'/it'\''s'"#), ("/a;rm -rf $HOME", "'/a;rm -rf $HOME'"), ("/münchen", "/münchen"),
    ("/a,b", "/a,b"), ("~/a", "'~/a'"), ("/a\nb", "'/a\nb'"),
  ])
  func pathsInCommands(path: String, expected: String) {
    #expect(Doctor.quoted(path) == expected)
  }

  @Test(arguments: [
    ("4.18.0", false), ("4.19.0-27-amd64", true), ("3.16", false), ("5.10.103-v7l+", true),
    ("6.18.44-fc-v445", true), ("10.0", true), ("4.9.337", false),
  ])
  func versions(release: String, isEnough: Bool) throws {
    let finding = Doctor.kernelVersion(.with { $0.release = release })
    #expect(finding.map { $0.level == .ok } == isEnough)
    // Without an adapter of Bluetooth 5 it does not matter yet.
    let other = Doctor.kernelVersion(
      .with {
        $0.release = release
        $0.radios = []
      })
    #expect(other.map(\.level) == (isEnough ? .ok : .warning))
    #expect(Doctor.kernelVersion(.with { $0.release = "" }) == nil)
    #expect(Doctor.kernelVersion(.with { $0.release = "99999999999999999999.1" }) == nil)
  }
}
