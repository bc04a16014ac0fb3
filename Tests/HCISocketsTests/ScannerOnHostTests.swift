import Advertising
import Glibc
import Scanning
import TestSupport
import Testing

@testable import LiveScanning

/// A scanner on a host on which adapters come and go, and system calls fail. Without the trait RawHCI nothing reads its sockets.
@Suite(.enabled(if: hasRawHCI, "raw HCI sockets are not built in")) struct ScannerOnHostTests {
  private static let (one, other): (UInt64, UInt64) = (0x00AA_0100_0042, 0x00AA_0100_0043)

  /// A number means the adapter that has it now, whatever its address.
  @Test func anotherAdapterInItsPlaceIsUsed() throws {
    let host = ModelHost()
    host.plug(0, Self.one)
    let scanner = host.scanner(.these([.number(0)]))
    _ = try host.run(scanner, seconds: 5) { host.isScanning(0) }
    #expect(host.isScanning(0))
    host.pull(0)
    let gone = try host.run(scanner, seconds: 0.4)
    #expect(gone.last?.condition == .removed)
    host.plug(0, Self.other)
    let back = try host.run(scanner, seconds: 5) { host.isScanning(0) }
    #expect(host.isScanning(0), "\(back)")
    let named = try host.run(scanner, seconds: 0.3)
    #expect((back + named).last?.condition == .scanning)
    #expect((back + named).last?.address == BluetoothAddress(rawValue: Self.other))
  }

  /// An address means the adapter that has it, whatever its number.
  @Test func anAdapterIsFoundByItsAddress() throws {
    let host = ModelHost()
    host.plug(0, Self.one)
    let scanner = host.scanner(.these([.address(BluetoothAddress(rawValue: Self.one))]))
    _ = try host.run(scanner, seconds: 5) { host.isScanning(0) }
    host.pull(0)
    host.plug(0, Self.other)
    host.plug(3, Self.one)
    _ = try host.run(scanner, seconds: 5) { host.isScanning(3) }
    #expect(host.isScanning(3) && !host.isScanning(0))
  }

  /// A state is reported anew after a rest, as it is then.
  @Test func itKeepsTheContractOfSources() throws {
    let host = ModelHost()
    host.plug(0, Self.one)
    let scanner = host.scanner(.these([.number(0)]))
    _ = try host.run(scanner, seconds: 60) { host.isScanning(0) }
    let before = try host.run(scanner, seconds: 0.3)
    #expect(before.last?.condition == .scanning)
    scanner.rest()
    _ = try host.run(scanner, seconds: 60) { host.isScanning(0) }
    #expect(try host.run(scanner, seconds: 0.3).last?.condition == .scanning)
    host.pull(0)
    let states = try SourceContract.check(scanner, for: .ranging, time: \.time)
    #expect(states.before.condition == .removed && states.after.condition == .removed)
  }

  /// Where any adapter will do, another one takes the place of one that stays away, and gives it back.
  @Test func anotherAdapterTakesThePlaceForAWhile() throws {
    let host = ModelHost()
    host.plug(0, Self.one)
    host.plug(1, Self.other)
    let scanner = host.scanner(.firstUsable)
    _ = try host.run(scanner, seconds: 60) { host.isScanning(0) }
    _ = try host.run(scanner, seconds: 0.3)
    host.pull(0)
    var health = try host.run(scanner, seconds: 60) { host.isScanning(1) }
    health += try host.run(scanner, seconds: 0.3)
    #expect(health.map(\.condition) == [.removed, .scanning], "\(health)")
    #expect(health.last?.isReceptionLost == true, "it has not received anything")
    #expect(health.last?.sentence.contains("in the place of hci0 (00:AA:01:00:00:42)") == true)
    host.report(1)
    let first = try host.run(scanner, seconds: 0.3)
    #expect(first.map(\.condition) == [.scanning] && first.last?.isReceptionLost == false)
    #expect(first.last?.sentence.contains("in the place of") == true)
    host.plug(2, Self.one)
    var back = try host.run(scanner, seconds: 60) { host.isScanning(2) }
    back += try host.run(scanner, seconds: 0.3)
    #expect(!host.isScanning(1), "its scan was left on")
    #expect(back.map(\.condition) == [.scanning] && back.last?.isReceptionLost == false)
    #expect(back.last?.address == BluetoothAddress(rawValue: Self.one))
    #expect(back.last?.sentence == "hci2 scans")
  }

  /// Of two adapters, each other's socket is no other program's.
  @Test func scansOfAKilledProcessAreTakenOver() throws {
    let host = ModelHost()
    host.plug(0, Self.one, isScanning: true)
    host.plug(1, Self.other, isScanning: true)
    let scanner = host.scanner(.all)
    var latest: [String: ScannerHealth.Condition] = [:]
    for health in try host.run(scanner, seconds: 1.5) {
      latest[health.adapter ?? ""] = health.condition
    }
    #expect(latest == ["hci0": .scanning, "hci1": .scanning])
    scanner.rest()
    host.answer()
    #expect(!host.isScanning(0) && !host.isScanning(1), "they were not ours")
  }

  @Test func scansOfAnotherProgramAreShared() throws {
    let host = ModelHost()
    host.plug(0, Self.one, isScanning: true)
    host.addStranger()
    let scanner = host.scanner(.all)
    #expect(try host.run(scanner, seconds: 1.2).map(\.condition) == [.shared])
    scanner.rest()
    host.answer()
    #expect(host.isScanning(0))
  }

  /// A process that did not run for a while knows nothing of that time: reception counts as lost.
  @Test func aPauseIsLostReception() throws {
    let host = ModelHost()
    host.plug(0, Self.one)
    let scanner = host.scanner(.firstUsable)
    _ = try host.run(scanner, seconds: 5) { host.isScanning(0) }
    _ = try host.run(scanner, seconds: 0.3)
    let stopped = MonotonicTime.now
    usleep(1_300_000)
    let resumed = MonotonicTime.now
    let health = try host.run(scanner, seconds: 0.3)
    let lost = try #require(health.first { $0.isReceptionLost }, "\(health)")
    let restored = try #require(health.first { $0.time > lost.time })
    #expect(lost.condition == .lossy && lost.time <= stopped)
    #expect(!restored.isReceptionLost && restored.time >= resumed)
    #expect(lost.sentence.contains("did not run for"))
  }

  /// An adapter that went and came back while the process did not run is gone since before that.
  @Test func anAdapterThatLeftInAPauseIsGoneSinceThen() throws {
    let host = ModelHost()
    host.plug(0, Self.one)
    let scanner = host.scanner(.firstUsable)
    _ = try host.run(scanner, seconds: 5) { host.isScanning(0) }
    _ = try host.run(scanner, seconds: 0.3)
    let stopped = MonotonicTime.now
    host.pull(0)
    host.plug(0, Self.one)
    usleep(1_300_000)
    let health = try host.run(scanner, seconds: 5) { host.isScanning(0) }
    let named = try host.run(scanner, seconds: 0.3)
    let first = try #require(health.first, "nothing was reported")
    #expect(first.condition == .removed && first.isReceptionLost && first.time <= stopped)
    #expect((health + named).last?.condition == .scanning)
  }

  /// What fails to open, as where too many files are open, does not end a scan that runs.
  @Test(arguments: [EMFILE, EAFNOSUPPORT])
  func aScanThatRunsGoesOn(errno: Int32) throws {
    let host = ModelHost()
    host.plug(0, Self.one)
    let scanner = host.scanner(.firstUsable)
    _ = try host.run(scanner, seconds: 5) { host.isScanning(0) }
    _ = try host.run(scanner, seconds: 0.3)
    host.fail(errno)
    #expect(try host.run(scanner, seconds: 0.8).isEmpty)
    #expect(host.isScanning(0))
    #expect(scanner.availability == .available)
  }

  /// Before a scan runs, the error is named, and the next try goes on.
  @Test func theErrorIsNamed() throws {
    let host = ModelHost()
    host.plug(0, Self.one)
    host.fail(EMFILE)
    let scanner = host.scanner(.these([.number(0)]))
    if case .unavailable(let reason) = scanner.availability {
      #expect(reason.contains("Too many open files"))
    } else {
      Issue.record("\(scanner.availability)")
    }
    let health = try host.run(scanner, seconds: 0.5)
    #expect(health.map(\.condition) == [.systemError])
    #expect(health.first?.sentence.contains("socket: Too many open files") == true)
    #expect(health.first?.isReceptionLost == true)
    host.fail(nil)
    #expect(try host.run(scanner, seconds: 1).map(\.condition) == [.scanning])
  }

  /// While it receives, its state shows whether it can be used; no socket is opened for that.
  @Test(arguments: [AdapterSelection.firstUsable, .all])
  func availabilityOpensNothingWhileItReceives(adapters: AdapterSelection) throws {
    let host = ModelHost()
    host.plug(0, Self.one)
    host.plug(1, Self.other)
    let scanner = host.scanner(adapters)
    for _ in 0..<100 { #expect(scanner.availability == .available) }
    #expect(host.opened == 1, "at rest it is asked for once a second at most")
    _ = try host.run(scanner, seconds: 0.5)
    let before = host.opened
    let end = MonotonicTime.now.advanced(by: 1_200_000_000)
    while MonotonicTime.now < end {
      _ = try host.run(scanner, seconds: 0.1)
      #expect(scanner.availability == .available)
    }
    #expect(host.opened == before)
    host.pull(0)
    host.pull(1)
    _ = try host.run(scanner, seconds: 0.5)
    #expect(scanner.availability != .available)
  }

  /// Numbers that a configuration may hold and that are no times or distances.
  @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1])
  func numbersWithoutMeaning(number: Double) throws {
    let host = ModelHost()
    host.plug(0, Self.one)
    var configuration = LiveScanner.Configuration()
    configuration.quietTimeout = number
    configuration.offsets = [(.number(0), number)]
    let scanner = HCIScanner(configuration, system: host.system)
    _ = try host.run(scanner, seconds: 5) { host.isScanning(0) }
    #expect(host.isScanning(0))
  }
}
