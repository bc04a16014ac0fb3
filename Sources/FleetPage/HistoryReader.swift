import Dispatch
import FleetPicture
import Synchronization

/// Reads the history on a thread of its own and for a limited time, as a database may not answer.
final class HistoryReader: Sendable {
  struct NoAnswer: Error, CustomStringConvertible {
    var seconds: Double

    var description: String { "the database has not answered for \(seconds) s" }
  }

  /// A request that waits for its answer, until the first one.
  private final class Answer: Sendable {
    private let waiting: Mutex<CheckedContinuation<[RoomChange], any Error>?>

    init(_ continuation: CheckedContinuation<[RoomChange], any Error>) {
      waiting = Mutex(continuation)
    }

    var isWanted: Bool { waiting.withLock { $0 != nil } }

    func give(_ result: Result<[RoomChange], any Error>) {
      waiting.withLock { waiting in
        defer { waiting = nil }
        return waiting
      }?.resume(with: result)
    }
  }

  private let history: FleetHub.History
  private let seconds: Double
  private let queue = DispatchQueue(label: "history")

  init(_ history: @escaping FleetHub.History, seconds: Double) {
    self.history = history
    self.seconds = seconds
  }

  func changes(
    site: String, beacon: String?, from: Int64, to: Int64, limit: Int
  ) async throws -> [RoomChange] {
    try await withCheckedThrowingContinuation { continuation in
      let answer = Answer(continuation)
      queue.async { [history] in
        guard answer.isWanted else { return }
        answer.give(Result { try history(site, beacon, from, to, limit) })
      }
      DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [seconds] in
        answer.give(.failure(NoAnswer(seconds: seconds)))
      }
    }
  }
}
