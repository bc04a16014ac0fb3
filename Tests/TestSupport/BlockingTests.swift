import Foundation
import Synchronization
package import Testing

extension Trait where Self == BlockingTests {
  /// The tests block their thread, such as those that wait for a process. They run on other threads than the tests
  /// that await: of those there is one for each processor, and nothing goes on while all of them are blocked.
  package static var blocking: BlockingTests { BlockingTests() }
}

/// Runs tests on threads that they may block.
package struct BlockingTests: SuiteTrait, TestTrait, TestScoping {
  /// A suite hands it on to its tests.
  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @Sendable @concurrent () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(Threads.shared) { try await function() }
  }

  /// Threads of which each runs a test at a time.
  private final class Threads: TaskExecutor {
    static let shared = Threads(count: 8)

    private let jobs = Mutex<[UnownedJob]>([])
    private let waiting = DispatchSemaphore(value: 0)

    init(count: Int) {
      for _ in 0..<count {
        Thread.detachNewThread { [self] in
          while true {
            waiting.wait()
            let job = jobs.withLock { $0.removeFirst() }
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
          }
        }
      }
    }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      jobs.withLock { $0.append(job) }
      waiting.signal()
    }
  }
}
