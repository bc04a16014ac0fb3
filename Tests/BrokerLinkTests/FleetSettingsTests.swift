import Clocks
import FleetReports
import Foundation
import TestSupport
import Testing

@testable import BrokerLink

/// The life of a configuration, with times and reports of the tests' own.
@Suite struct FleetSettingsTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private var path: String { scratch["outbox.settings"] }

  private static func text(_ name: String) -> [UInt8] {
    Array("[region.\(name)]\nuuid = \"E2C56DB5-DFFB-48D2-B060-D0F5A71096E0\"\n".utf8)
  }

  private let lobby = text("lobby")
  private let hall = text("hall")

  /// A receiver whose reports are acknowledged at once, unless it has no connection.
  private struct Receiver {
    var settings: FleetSettings
    var now = MonotonicTime(nanoseconds: 0)
    var made = 0
    var acknowledged = 0
    var isConnected = true
    var receptionLost: String?
    /// The texts that were used, and those that cannot be.
    var used: [[UInt8]?] = []
    var refused: Set<[UInt8]> = []

    init(_ path: String) { settings = FleetSettings(path) }

    mutating func receive(_ text: [UInt8]) { settings.receive(text, next: made + 1) }

    mutating func pass(_ seconds: Int) {
      for _ in 0..<seconds {
        made += 1
        if isConnected { acknowledged = made }
        var change = settings.next(
          at: now, made: made, acknowledged: acknowledged, receptionLost: receptionLost)
        while let next = change {
          used.append(next.text)
          change = settings.finish(next, failure: refused.contains(next.text ?? []) ? "no" : nil)
        }
        now = now.advanced(bySeconds: 1)
      }
    }
  }

  private func version(_ text: [UInt8]) -> ConfigurationVersion { ConfigurationVersion(of: text) }

  private func kept(_ text: [UInt8]) -> Receiver {
    var receiver = Receiver(path)
    receiver.receive(text)
    receiver.pass(70)
    #expect(receiver.settings.state == .init(version: version(text)))
    receiver.used = []
    return receiver
  }

  @Test func `a configuration is announced, tried for a minute and kept`() {
    var receiver = Receiver(path)
    #expect(receiver.settings.state == .init() && receiver.settings.text == nil)
    receiver.receive(lobby)
    // A report says so before anything changes.
    #expect(
      receiver.settings.state == .init(trial: version(lobby)) && receiver.settings.text == nil)
    receiver.pass(1)
    #expect(receiver.used == [lobby] && receiver.settings.text == lobby)
    receiver.pass(59)
    #expect(receiver.settings.state == .init(trial: version(lobby)))
    receiver.pass(2)
    #expect(receiver.settings.state == .init(version: version(lobby)))
    #expect(
      receiver.settings.takeEvents()
        == [.configured("the fleet's configuration \(version(lobby)) is kept")])
    // The next process has it, and one that is sent again changes nothing.
    receiver = Receiver(path)
    #expect(receiver.settings.text == lobby)
    receiver.receive(lobby)
    receiver.pass(70)
    #expect(receiver.used.isEmpty && receiver.settings.state == .init(version: version(lobby)))
  }

  @Test func `another one during a trial waits`() {
    var receiver = Receiver(path)
    receiver.receive(lobby)
    receiver.pass(5)
    receiver.receive(hall)
    receiver.pass(70)
    #expect(receiver.settings.state == .init(version: version(lobby)))
    receiver.receive(hall)
    receiver.pass(70)
    #expect(receiver.settings.state == .init(version: version(hall)))
    #expect(receiver.used == [lobby, hall])
  }

  @Test func `nothing changes before the announcement is acknowledged`() {
    var receiver = Receiver(path)
    receiver.isConnected = false
    receiver.receive(lobby)
    receiver.pass(1000)
    #expect(receiver.used.isEmpty)
    receiver.isConnected = true
    receiver.pass(70)
    #expect(receiver.settings.state == .init(version: version(lobby)))
  }

  @Test func `one that cannot be used is refused, and the one before stays`() {
    var receiver = kept(lobby)
    receiver.refused = [hall]
    receiver.receive(hall)
    receiver.pass(5)
    // A part of it may have been in use.
    #expect(receiver.used == [hall, lobby])
    #expect(
      receiver.settings.state
        == .init(version: version(lobby), refusal: .init(version(hall), "no")))
    #expect(receiver.settings.text == lobby)
    // It is refused without another try, also by the next process.
    receiver = Receiver(path)
    receiver.receive(hall)
    receiver.pass(5)
    #expect(receiver.used.isEmpty && receiver.settings.state.refusal?.version == version(hall))
    // Another version is tried.
    receiver.receive(hall + hall)
    receiver.pass(70)
    #expect(receiver.settings.state == .init(version: version(hall + hall)))
  }

  @Test func `a receiver that receives nothing with it rolls back`() {
    var receiver = kept(lobby)
    receiver.receive(hall)
    receiver.pass(5)
    // A fault that ends is none.
    receiver.receptionLost = "hci0 resets"
    receiver.pass(20)
    receiver.receptionLost = nil
    receiver.pass(30)
    receiver.receptionLost = "hci0 is down"
    receiver.pass(59)
    #expect(receiver.used == [hall])
    receiver.pass(3)
    #expect(receiver.used == [hall, lobby] && receiver.settings.text == lobby)
    let reason = "nothing is received with it: hci0 is down"
    #expect(
      receiver.settings.state
        == .init(version: version(lobby), refusal: .init(version(hall), reason)))
    // One that received nothing before is not blamed on the configuration.
    receiver.receive(hall + lobby)
    receiver.pass(70)
    #expect(receiver.settings.state == .init(version: version(hall + lobby)))
  }

  @Test func `a receiver whose reports do not arrive rolls back`() {
    var receiver = kept(lobby)
    receiver.receive(hall)
    receiver.pass(1)
    receiver.isConnected = false
    receiver.pass(599)
    #expect(receiver.used == [hall])
    receiver.pass(2)
    #expect(receiver.used == [hall, lobby])
    #expect(
      receiver.settings.state.refusal?.reason
        == "no report was acknowledged with it for ten minutes")
    // An outage that ends before changes nothing.
    receiver = Receiver(path)
    receiver.receive(lobby + hall)
    receiver.pass(1)
    receiver.isConnected = false
    receiver.pass(500)
    receiver.isConnected = true
    receiver.pass(1)
    #expect(receiver.settings.state == .init(version: version(lobby + hall)))
  }

  @Test func `a process that is killed during a trial comes back with the one before`() {
    var receiver = kept(lobby)
    receiver.receive(hall)
    // It was announced only.
    receiver = Receiver(path)
    #expect(receiver.settings.state == .init(version: version(lobby)))
    receiver.receive(hall)
    receiver.pass(30)
    receiver = Receiver(path)
    #expect(receiver.settings.text == lobby)
    let refusal = ReceiverReport.Configuration.Refusal(
      version(hall), "the service ended while it was tried")
    #expect(receiver.settings.state == .init(version: version(lobby), refusal: refusal))
    #expect(
      receiver.settings.takeEvents()
        == [.refused("the fleet's configuration \(version(hall)) is not used: \(refusal.reason)")])
    // And it stays so.
    receiver = Receiver(path)
    #expect(receiver.settings.state == .init(version: version(lobby), refusal: refusal))
  }

  @Test func `an orderly end during a trial refuses nothing`() {
    var receiver = kept(lobby)
    receiver.receive(hall)
    receiver.pass(30)
    receiver.settings.stop()
    receiver = Receiver(path)
    #expect(receiver.settings.state == .init(version: version(lobby)))
    receiver.receive(hall)
    receiver.pass(70)
    #expect(receiver.settings.state == .init(version: version(hall)))
  }

  @Test func `one that is kept and cannot be used is refused, and tried again by the next process`()
  {
    var receiver = kept(lobby)
    receiver.settings.refuseKept("no")
    #expect(receiver.settings.text == nil)
    #expect(receiver.settings.state == .init(refusal: .init(version(lobby), "no")))
    receiver = Receiver(path)
    #expect(receiver.settings.text == lobby)
  }

  @Test(arguments: [[0xFF], Array(repeating: 32, count: ConfigurationVersion.maximumLength + 1)])
  func `what is not a text is refused`(text: [UInt8]) {
    var receiver = Receiver(path)
    receiver.receive(text)
    receiver.pass(5)
    #expect(receiver.used.isEmpty && receiver.settings.state.refusal?.version == version(text))
  }

  @Test func `while the disk is full nothing changes, and it is tried then`() throws {
    let folder = scratch["missing"]
    var receiver = Receiver("\(folder)/outbox.settings")
    receiver.receive(lobby)
    receiver.pass(5)
    #expect(receiver.used.isEmpty && receiver.settings.state == .init(trial: version(lobby)))
    #expect(receiver.settings.takeEvents().count == 1)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    receiver.pass(1)
    #expect(receiver.used == [lobby])
    // One that is kept meanwhile is stored later.
    try FileManager.default.moveItem(atPath: folder, toPath: scratch["away"])
    receiver.pass(70)
    #expect(receiver.settings.state == .init(version: version(lobby)))
    try FileManager.default.moveItem(atPath: scratch["away"], toPath: folder)
    receiver.pass(1)
    #expect(Receiver("\(folder)/outbox.settings").settings.state == .init(version: version(lobby)))
  }

  @Test func `the text before is tried again until it can be used`() {
    var receiver = kept(lobby)
    receiver.receive(hall)
    receiver.pass(5)
    receiver.refused = [lobby]
    receiver.receptionLost = "hci0 is down"
    receiver.pass(70)
    #expect(receiver.used.count > 3 && receiver.settings.takeEvents().count == 3)
    receiver.refused = []
    receiver.pass(1)
    let count = receiver.used.count
    receiver.pass(10)
    #expect(receiver.used.count == count)
  }

  @Test func `a damaged file is not used, and is replaced`() throws {
    try scratch.write(Array("{".utf8), "outbox.settings")
    var receiver = Receiver(path)
    #expect(
      receiver.settings.takeEvents()
        == [.refused("\(path) does not hold a configuration, and is not used")])
    receiver.receive(lobby)
    receiver.pass(70)
    #expect(Receiver(path).settings.text == lobby)
  }
}
