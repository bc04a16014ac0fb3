import HTTPTypes
import Synchronization

final class RequestCounts: Sendable {
  private let answers = Mutex<[Int: Int]>([:])
  private let streams = Atomic<Int>(0)

  func count(_ status: HTTPResponse.Status) {
    answers.withLock { $0[status.code, default: 0] += 1 }
  }

  var byStatus: [(status: Int, count: Int)] {
    answers.withLock { $0.sorted { $0.key < $1.key }.map { (status: $0.key, count: $0.value) } }
  }

  var openStreams: Int { streams.load(ordering: .relaxed) }

  func openStream(limit: Int) -> Bool {
    guard streams.add(1, ordering: .relaxed).newValue <= limit else {
      closeStream()
      return false
    }
    return true
  }

  func closeStream() { streams.subtract(1, ordering: .relaxed) }
}
