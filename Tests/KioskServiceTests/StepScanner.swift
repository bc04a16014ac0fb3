import Advertising
import Dispatch
import Scanning
import Synchronization

/// A scanner that receives what a test gives it, and returns to the test when the service has dealt with that.
///
/// The service needs something of it all the time: its thread waits in ``receive(for:until:into:)``.
final class StepScanner: Scanner {
  private struct Ended: Error {}

  private struct State {
    var batch: [Sighting] = []
    var progress = ScanProgress()
    var isEnded = false
  }

  let name = "steps"
  let isRecorded = false
  let availability = ScannerAvailability.available
  let counts = ScanCounts()
  private let state = Mutex(State())
  private let given = DispatchSemaphore(value: 0)
  private let taken = DispatchSemaphore(value: 0)

  /// Waits until the service receives.
  func waitUntilReceiving() { taken.wait() }

  /// Gives the service what was received until a moment, and waits until it has dealt with that.
  func give(_ sightings: [Sighting], from began: MonotonicTime, to reached: MonotonicTime) {
    state.withLock { state in
      state.batch = sightings
      state.progress = ScanProgress(began: began, reached: reached)
    }
    given.signal()
    taken.wait()
  }

  /// Has the service's thread end.
  func end() {
    state.withLock { $0.isEnded = true }
    given.signal()
  }

  func receive(
    for demand: ScanDemand, until deadline: MonotonicTime?, into sightings: inout [Sighting]
  ) throws -> ScanProgress {
    taken.signal()
    given.wait()
    let (batch, progress, isEnded) = state.withLock { ($0.batch, $0.progress, $0.isEnded) }
    if isEnded { throw Ended() }
    sightings = batch
    return progress
  }

  func rest() {}
}
