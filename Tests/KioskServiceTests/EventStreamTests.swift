import Foundation
import Scanning
import ServiceCore
import Synchronization
import TestSupport
import Testing

@testable import KioskService

/// The messages that a client of the event stream has read.
private final class Reading: Sendable {
  private struct State {
    var rest = ""
    var messages: [(name: String, id: String?)] = []
  }

  private let state = Mutex(State())

  /// The whole messages: their names and identifiers.
  var messages: [(name: String, id: String?)] { state.withLock { $0.messages } }

  @Sendable func write(_ bytes: [UInt8]) async throws {
    try Task.checkCancellation()
    append(String(decoding: bytes, as: UTF8.self))
    await Task.yield()
  }

  /// Reads each message once: who waits looks at them again and again.
  func append(_ text: String) {
    state.withLock { state in
      var parts = (state.rest + text).components(separatedBy: "\n\n")
      state.rest = parts.removeLast()
      for part in parts {
        var name: String?
        var id: String?
        for line in part.split(separator: "\n") {
          if line.hasPrefix("event: ") { name = String(line.dropFirst(7)) }
          if line.hasPrefix("id: ") { id = String(line.dropFirst(4)) }
        }
        if let name { state.messages.append((name, id)) }
      }
    }
  }
}

@Suite(.timeLimit(.minutes(5))) struct EventStreamTests {
  private func append(to scene: KioskScene) {
    scene.manager.journal.append(
      BeaconEvent.health(
        ScannerHealth(
          .scanning, at: MonotonicTime(nanoseconds: 0), isReceptionLost: false, sentence: "on"),
        at: WallClockTime(nanoseconds: 0)))
  }

  /// A client that comes back again and again, while events are appended as fast as they can be.
  @Test(arguments: 0..<4) func aStreamThatContinuesLosesNothing(_ seed: UInt64) async throws {
    let scene = try KioskScene()
    append(to: scene)
    scene.manager.journal.finish()
    let isOver = Atomic(false)
    let appending = Task.detached {
      for number in 0..<3000 {
        append(to: scene)
        if number % 8 == 0 { try? await Task.sleep(for: .microseconds(200)) }
      }
      // The journal appends on a queue of its own, and the last connection must find all of it.
      await scene.manager.journal.settled()
      isOver.store(true, ordering: .releasing)
    }
    var random = SplitMix64(seed: seed)
    var last: String?
    var received: [Int64] = []
    var (connections, missed) = (0, 0)
    while true {
      // The last connection gets what is left.
      let isLast = isOver.load(ordering: .acquiring)
      let reading = Reading()
      let stream = EventStream(hub: scene.hub, lastEvent: last)
      let task = Task.detached {
        try? await stream.write(to: reading.write)
      }
      let wanted = Int(random.next() % 4) + 1
      #expect(
        await eventually { reading.messages.count { $0.name == "snapshot" } == 1 },
        "a stream began with a snapshot")
      if isLast {
        let latest = scene.hub.journal.text(of: scene.hub.journal.latest)
        #expect(
          await eventually { reading.messages.last { $0.id != nil }?.id == latest },
          "the last connection came to the end")
      } else {
        _ = await eventually {
          reading.messages.count > wanted || isOver.load(ordering: .acquiring)
        }
      }
      task.cancel()
      await task.value
      connections += 1
      for (name, id) in reading.messages {
        if name == "missed" { missed += 1 }
        guard let id, let entry = EntryID(id) else { continue }
        if name != "snapshot" { received.append(entry.number) }
        // The first snapshot stands for what came before.
        if name == "snapshot", received.isEmpty { received.append(entry.number) }
        last = id
      }
      if isLast { break }
    }
    await appending.value
    print("seed \(seed): \(connections) connections, \(received.count) events, \(missed) missed")
    #expect(connections > 3)
    // Fewer than the journal keeps were appended: none is gone, and none comes twice.
    #expect(missed == 0)
    let first = try #require(received.first)
    #expect(received == Array(first...scene.hub.journal.latest))
  }

  @Test func aStreamThatIsFarBehindIsToldSo() async throws {
    let scene = try KioskScene()
    append(to: scene)
    scene.manager.journal.finish()
    let old = scene.hub.journal.text(of: 1)
    for _ in 0...Journal.maximumEntries { append(to: scene) }
    scene.manager.journal.finish()
    for (last, isWhole) in [
      (old, false), ("00000000-1", false), ("nonsense", false),
      (scene.hub.journal.text(of: scene.hub.journal.latest + 1), false),
      (scene.hub.journal.text(of: scene.hub.journal.latest), true),
      (scene.hub.journal.text(of: scene.hub.journal.latest - 5), true),
    ] {
      let reading = Reading()
      let stream = EventStream(hub: scene.hub, lastEvent: last)
      let task = Task.detached {
        try? await stream.write(to: reading.write)
      }
      #expect(await eventually { reading.messages.contains { $0.name == "snapshot" } })
      task.cancel()
      await task.value
      #expect(reading.messages.contains { $0.name == "missed" } == !isWhole, "\(last)")
    }
  }
}
