import Glibc
import Scanning
import Synchronization

/// A radio that receives nothing, works or fails as a test says, and counts the calls.
final class FaultyScanner: Scanner {
  private struct State {
    var availability = ScannerAvailability.available
    var condition = ScannerHealth.Condition.scanning
    var reported: ScannerHealth.Condition?
    var calls = 0
    var isResting = true
  }

  let name: String
  let isRecorded = false
  let counts = ScanCounts()
  private let state = Mutex(State())

  init(_ name: String) { self.name = name }

  var availability: ScannerAvailability { state.withLock { $0.availability } }
  var calls: Int { state.withLock { $0.calls } }
  var isResting: Bool { state.withLock { $0.isResting } }

  func setAvailability(_ availability: ScannerAvailability) {
    state.withLock { $0.availability = availability }
  }

  func fail() {
    state.withLock { ($0.condition, $0.availability) = (.takenOver, .unavailable("it failed")) }
  }

  func recover() { state.withLock { ($0.condition, $0.availability) = (.scanning, .available) } }

  func receive(
    for demand: ScanDemand, until deadline: MonotonicTime?, into sightings: inout [Sighting]
  ) throws -> ScanProgress {
    usleep(5000)
    sightings = []
    let now = MonotonicTime.now
    return state.withLock { state in
      state.calls += 1
      state.isResting = false
      var progress = ScanProgress(began: now, reached: now)
      if state.condition != state.reported {
        state.reported = state.condition
        progress.health = [
          ScannerHealth(
            state.condition, at: now, isReceptionLost: state.condition != .scanning,
            sentence: "\(name) is \(state.condition)")
        ]
      }
      return progress
    }
  }

  func rest() {
    state.withLock { state in
      (state.isResting, state.reported) = (true, nil)
    }
  }
}
