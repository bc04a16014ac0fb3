import Advertising
import Dispatch
import Positioning
import Scanning
import Synchronization

/// The pace of a source: it delivers only as many steps of a tenth of a second as it is allowed.
final class Pace: Sendable {
  private struct State {
    var time = MonotonicTime(nanoseconds: 1_767_225_600_000_000_000)
    var left = 0
    var rests = true
    var isWoken = false
  }

  private let state = Mutex(State())
  private let woken = DispatchSemaphore(value: 0)
  private let progressed = DispatchSemaphore(value: 0)

  /// Allows steps, and waits until the source has delivered them or rests. It may rest already: a permission can end
  /// at any time.
  func advance(by steps: Int) {
    state.withLock { state in
      state.left = steps
      state.rests = false
    }
    wake()
    while state.withLock({ $0.left > 0 && !$0.rests }),
      progressed.wait(timeout: .now() + 1) == .success
    {}
    state.withLock { $0.left = 0 }
  }

  /// Returns the time of the next step; `nil` if none is allowed, after a wait.
  func step() -> MonotonicTime? {
    let time = state.withLock { state -> MonotonicTime? in
      guard state.left > 0 else { return nil }
      state.left -= 1
      state.time = state.time.advanced(by: 100_000_000)
      return state.time
    }
    guard time == nil else {
      progressed.signal()
      return time
    }
    _ = woken.wait(timeout: .now() + 0.1)
    state.withLock { $0.isWoken = false }
    return nil
  }

  var now: MonotonicTime { state.withLock { $0.time } }

  /// Ends the current wait, or the next one.
  func wake() {
    let isFirst = state.withLock { state in
      defer { state.isWoken = true }
      return !state.isWoken
    }
    if isFirst { woken.signal() }
  }

  func rest() {
    state.withLock { $0.rests = true }
    progressed.signal()
  }
}

/// A radio that receives two beacons in each step, one of them for 20 steps of 40.
final class PacedScanner: Scanner {
  let pace = Pace()
  let name = "fuzz"
  let isRecorded = false
  let availability = ScannerAvailability.available
  var counts: ScanCounts { ScanCounts() }

  static let uuid = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)

  private let count = Atomic<Int>(0)

  func receive(
    for demand: ScanDemand, until deadline: MonotonicTime?, into sightings: inout [Sighting]
  ) throws -> ScanProgress {
    sightings.removeAll(keepingCapacity: true)
    guard let time = pace.step() else { return ScanProgress(reached: pace.now) }
    let step = count.wrappingAdd(1, ordering: .relaxed).newValue
    for minor in UInt16(1)...2 where minor == 1 || step % 40 < 20 {
      sightings.append(
        Sighting(
          time: time, wallTime: time.wallClockTime(.zero),
          beacon: BeaconIdentity(uuid: Self.uuid, major: 1, minor: minor), measuredPower: -59,
          rssi: -60, address: BluetoothAddress(rawValue: 0xC000_0000_0000 + UInt64(minor)),
          addressType: .random))
    }
    return ScanProgress(reached: time)
  }

  func wake() { pace.wake() }
  func rest() { pace.rest() }
}

/// A source of fixes that go north, and of headings that turn.
final class PacedLocations: LocationSource {
  let pace = Pace()
  let name = "fuzz"
  let isRecorded = false
  let availability = ScannerAvailability.available
  let hasCompass = true

  private let count = Atomic<Int>(0)

  func receive(
    for demand: LocationDemand, until deadline: MonotonicTime?, into inputs: inout [PositionInput]
  ) throws -> LocationProgress {
    inputs.removeAll(keepingCapacity: true)
    guard let time = pace.step() else { return LocationProgress(reached: pace.now) }
    let step = Double(count.wrappingAdd(1, ordering: .relaxed).newValue % 8000)
    if let place = Coordinate(latitude: 48 + step / 1000, longitude: 11) {
      inputs.append(
        .fix(
          Fix(time: time, timestamp: time.wallClockTime(.zero), place: place, horizontalAccuracy: 5)
        ))
    }
    inputs.append(
      .compass(
        CompassReading(
          time: time, timestamp: time.wallClockTime(.zero),
          magneticHeading: step.truncatingRemainder(dividingBy: 360))))
    return LocationProgress(reached: time)
  }

  func wake() { pace.wake() }
  func rest() { pace.rest() }
}
