import DBusMessages
import Foundation
import Glibc
import Synchronization

/// Another connection to a bus, which answers on a thread of its own until the value ends.
final class Peer: Sendable {
  /// The connection's unique name.
  let name: String
  private let wakeUp: [Int32]
  private let ended = DispatchSemaphore(value: 0)

  /// Connects, takes names, and hands every message to the closure.
  init(
    _ address: String, names: [String] = [],
    _ handle: @escaping @Sendable (BusConnection, BusMessage) throws -> Void
  ) throws {
    var pipe: [Int32] = [-1, -1]
    // The array outlives the call.
    guard unsafe Glibc.pipe(&pipe) == 0 else { throw POSIXError(.EMFILE) }
    wakeUp = pipe
    let start = Start()
    Thread.detachNewThread { [wakeUp, ended] in
      defer { ended.signal() }
      do {
        let bus = try BusConnection(.address(address))
        for name in names { try bus.takeName(name) }
        start.end(.success(bus.uniqueName))
        while true {
          let messages = try bus.receive(waitingAtMost: 1_000_000_000_000, orUntil: wakeUp[0])
          for message in messages { try handle(bus, message) }
          guard !messages.isEmpty else { return }
        }
      } catch {
        // Where the bus has ended, so has the peer.
        start.end(.failure(error))
      }
    }
    name = try start.result()
  }

  deinit {
    close(wakeUp[1])
    ended.wait()
    close(wakeUp[0])
  }

  /// How the thread's start went.
  private final class Start: Sendable {
    private let outcome = Mutex<Result<String, any Error>?>(nil)
    private let started = DispatchSemaphore(value: 0)

    func end(_ result: Result<String, any Error>) {
      outcome.withLock { outcome in
        guard outcome == nil else { return }
        outcome = result
        started.signal()
      }
    }

    func result() throws -> String {
      started.wait()
      return try outcome.withLock { try $0?.get() } ?? ""
    }
  }
}

extension BusConnection {
  /// Takes a name, for which nobody waits.
  func takeName(_ name: String) throws {
    _ = try call(.toBus("RequestName", .string(name), .uint32(4)))
  }

  /// Receives until that many messages of the kind have come; others are left out.
  func receive(_ count: Int, of kind: BusMessage.Kind = .signal) throws -> [BusMessage] {
    var messages: [BusMessage] = []
    // Only what never comes fails a test, not what comes late.
    for _ in 0..<300 where messages.count < count {
      messages += try receive(waitingAtMost: 1_000_000_000)
        .filter { $0.kind == kind && $0.member != "NameAcquired" }
    }
    return messages
  }
}
