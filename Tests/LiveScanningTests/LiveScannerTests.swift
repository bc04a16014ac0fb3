import Advertising
import Scanning
import Synchronization
import TestSupport
import Testing

@testable import LiveScanning

/// The change between the two ways, with scripted scanners in their places.
@Suite(.blocking) struct LiveScannerTests {
  let hci = FaultyScanner("hci")
  let bluez = FaultyScanner("bluez")
  let looks = Looks()

  /// What bluetoothd shows, and how long each look at it might have taken.
  final class Looks: Sendable {
    private let state = Mutex((view: BackendChoiceTests.view(), limits: [Int64]()))

    var limits: [Int64] { state.withLock { $0.limits } }
    func show(_ view: BlueZView) { state.withLock { $0.view = view } }
    func look(_ limit: Int64) -> BlueZView {
      state.withLock { state in
        state.limits.append(limit)
        return state.view
      }
    }
  }

  func scanner(
    _ backend: LiveScanner.Backend = .auto,
    _ change: (inout LiveScanner.Configuration) -> Void = { _ in }
  ) -> LiveScanner {
    var configuration = LiveScanner.Configuration()
    configuration.backend = backend
    change(&configuration)
    return LiveScanner(
      configuration, hci: hci, bluez: bluez, view: { [looks] in looks.look($0) })
  }

  /// Receives until a condition holds, and returns what was reported.
  @discardableResult
  func receive(_ scanner: LiveScanner, until isDone: (ScanProgress) -> Bool) throws
    -> [ScanProgress]
  {
    var all: [ScanProgress] = []
    var sightings: [Sighting] = []
    repeat {
      all.append(try scanner.receive(for: .ranging, until: nil, into: &sightings))
    } while !isDone(all[all.count - 1]) && all.count < 3000
    #expect(isDone(all[all.count - 1]))
    return all
  }

  @Test func `where one way receives nothing the other one takes its place, and back`() throws {
    let scanner = scanner()
    try receive(scanner) { !$0.health.isEmpty }
    #expect(scanner.choice?.backend == .hci && bluez.calls == 0)
    hci.fail()
    let progress = try receive(scanner) { $0.hasOtherReceiver }
    #expect(scanner.choice?.backend == .bluez)
    #expect(progress.filter(\.hasOtherReceiver).count == 1)
    #expect(hci.isResting)
    let began = Set(progress.map(\.began))
    #expect(began.count == 1)
    try receive(scanner) {
      $0.health.contains { $0.sentence.contains("chosen because raw HCI") } || bluez.calls > 1
    }
    hci.recover()
    bluez.fail()
    try receive(scanner) { $0.hasOtherReceiver }
    #expect(scanner.choice?.backend == .hci)
    scanner.rest()
    #expect(hci.isResting && bluez.isResting && scanner.choice == nil)
  }

  @Test func `a way that cannot be used is not changed to`() throws {
    let scanner = scanner()
    try receive(scanner) { !$0.health.isEmpty }
    looks.show(BackendChoiceTests.view(isUp: false))
    hci.fail()
    var calls = 0
    try receive(scanner) { _ in
      calls += 1
      return calls > 500
    }
    #expect(scanner.choice?.backend == .hci && bluez.calls == 0)
  }

  /// What it waits for bluetoothd is short where it could receive meanwhile.
  @Test(arguments: [(ScannerAvailability.available, 0.5), (.notPermitted("no right"), 3)])
  func `a bluetoothd that does not answer delays raw sockets by half a second at most`(
    availability: ScannerAvailability, seconds: Double
  ) throws {
    hci.setAvailability(availability)
    looks.show(BlueZView(obstacle: .notAnswering))
    let scanner = scanner()
    try receive(scanner) { !$0.health.isEmpty }
    // What is not permitted is no alternative to a daemon that may answer again.
    #expect(scanner.choice?.backend == (availability == .available ? .hci : .bluez))
    #expect(looks.limits == [Int64(seconds * 1e9)])
    guard availability == .available else { return }
    // It is looked at again where raw sockets receive nothing.
    looks.show(BackendChoiceTests.view())
    hci.fail()
    try receive(scanner) { $0.hasOtherReceiver }
    #expect(scanner.choice?.backend == .bluez)
    #expect(looks.limits.dropFirst().allSatisfy { $0 == 500_000_000 })
  }

  @Test func `a way that was requested is the only one`() throws {
    let scanner = scanner(.bluez)
    hci.setAvailability(.available)
    bluez.fail()
    var calls = 0
    try receive(scanner) { _ in
      calls += 1
      return calls > 500
    }
    #expect(hci.calls == 0)
    #expect(scanner.availability == bluez.availability)
  }

  @Test func `packets and the Coded PHY need raw sockets`() throws {
    for change: (inout LiveScanner.Configuration) -> Void in [
      { $0.usesCodedPHY = true }, { $0.isActive = true }, { $0.packetTap = { _, _, _, _ in } },
    ] {
      let scanner = scanner(.auto, change)
      hci.setAvailability(.notPermitted("no right"))
      #expect(scanner.availability == .notPermitted("no right"))
      try receive(scanner) { !$0.health.isEmpty }
      #expect(bluez.calls == 0)
      hci.rest()
    }
  }

  #if !RawHCI
    /// There is no choice: a bluetoothd that does not run yet is waited for.
    @Test func `without raw sockets it has bluetoothd alone`() {
      #expect(LiveScanner().configuration.backend == .bluez)
      var configuration = LiveScanner.Configuration()
      configuration.backend = .hci
      let sentence = "raw HCI sockets are not built in; build with the package trait RawHCI"
      #expect(LiveScanner(configuration).availability == .unavailable(sentence))
    }
  #endif
}
