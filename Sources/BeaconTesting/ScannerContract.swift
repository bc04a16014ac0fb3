import Advertising
import Dispatch
public import Scanning

/// The contract of every scanner, as checks that any test framework can run.
///
/// ```swift
/// @Test func keepsTheContract() throws {
///   try ScannerContract.check { try ReplayScanner(paths: ["lobby.btsnoop"]) }
/// }
/// ```
public enum ScannerContract {
  /// A violation of the contract.
  public struct Violation: Error, CustomStringConvertible {
    /// A sentence that describes it.
    public let description: String
  }

  /// Checks that scanners keep the contract of `Scanner`.
  ///
  /// - Parameters:
  ///   - calls: The number of calls after which the check of a scanner without an end stops.
  ///   - make: Makes an available scanner, with the same input each time.
  /// - Throws: ``Violation``, or an error of a scanner.
  public static func check(calls: Int = 10_000, _ make: () throws -> any Scanner) throws {
    let scanner = try make()
    try require(scanner.availability == .available, "it cannot be used: \(scanner.availability)")
    try require(!scanner.name.isEmpty, "it has no name")
    // A rest before the first call changes nothing.
    scanner.rest()
    var run = Run(scanner: scanner)
    while !run.isOver, run.calls < calls { try run.receive(for: .ranging) }
    scanner.rest()
    if run.isOver { try require(run.began, "it came to its end without a beginning") }

    // A lower demand, a rest between calls and another array change nothing.
    let other = try make()
    var resting = Run(scanner: other)
    while !resting.isOver, resting.calls < calls {
      try resting.receive(for: resting.calls.isMultiple(of: 2) ? .monitoring : .ranging)
      if resting.calls.isMultiple(of: 3) {
        other.rest()
        // After a rest, the scanner reports its state again.
        resting.reception = Reception()
      }
      if resting.calls.isMultiple(of: 5) { resting.sightings = [] }
    }
    if scanner.isRecorded, run.isOver, resting.isOver {
      try require(run.received == resting.received, "the same recording gave two different things")
      try require(run.reached == resting.reached, "the same recording ended at two moments")
    }
  }

  private struct Run {
    let scanner: any Scanner
    var sightings: [Sighting] = []
    var calls = 0
    var isOver = false
    var began = false
    var reached: MonotonicTime?
    /// A hash of the received sightings and states, in their order.
    var received: UInt64 = 0
    var reception = Reception()
    /// The number of consecutive calls that took too long.
    var lateCalls = 0

    mutating func receive(for demand: ScanDemand) throws {
      calls += 1
      // A wait without a deadline ends by itself, or earlier by a wake.
      let isWoken = calls.isMultiple(of: 7)
      if isWoken { scanner.wake() }
      let deadline = isWoken ? nil : reached?.advanced(by: maximumReceiveTime / 2)
      let start = DispatchTime.now()
      let progress = try scanner.receive(for: demand, until: deadline, into: &sightings)
      let elapsed = DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds
      // One or two calls that last ten times as long may be due to a busy machine.
      lateCalls = elapsed < UInt64(maximumReceiveTime) * 10 ? 0 : lateCalls + 1
      try require(lateCalls < 3, "three calls in a row lasted for \(elapsed / 1_000_000) ms")
      try check(progress)
      isOver = progress.isOver
    }

    private mutating func record(_ value: UInt64, at time: MonotonicTime) {
      received = received &* 1_099_511_628_211 &+ UInt64(bitPattern: time.nanoseconds) &+ value
    }

    private mutating func check(_ progress: ScanProgress) throws {
      let before = reached
      if let began = progress.began {
        self.began = self.began || began <= progress.reached ?? began
      }
      if let earlier = before {
        try require(progress.reached.map { $0 >= earlier } ?? false, "time went back")
      }
      try require(
        sightings.isEmpty || progress.reached != nil, "sightings came without a moment reached")
      var latest = progress.began ?? MonotonicTime(nanoseconds: .min)
      if let before { latest = max(latest, before) }
      var health = progress.health[...]
      for sighting in sightings {
        try require(sighting.time >= latest, "sightings are out of order at \(sighting.time)")
        latest = sighting.time
        while let next = health.first, next.time <= sighting.time {
          try reception.check(health.removeFirst(), by: progress.reached)
        }
        try reception.check(sighting)
        record(
          UInt64(sighting.beacon.major) << 16 | UInt64(sighting.beacon.minor), at: sighting.time)
      }
      for next in health { try reception.check(next, by: progress.reached) }
      for next in progress.health {
        record(UInt64(next.condition.rawValue.utf8.count), at: next.time)
      }
      if let reached = progress.reached {
        try require(latest <= reached, "a sighting lies behind what has been reached")
      }
      reached = progress.reached ?? reached
    }
  }
}

extension ScannerContract {
  /// The receiver states that a scanner reported, and the check of their sequence.
  private struct Reception {
    private var latest: [String: ScannerHealth] = [:]
    private var lostSince: MonotonicTime?

    mutating func check(_ health: ScannerHealth, by reached: MonotonicTime?) throws {
      try require(
        reached.map { health.time <= $0 } ?? false, "it reported at \(health.time) what is to come")
      try require(!health.sentence.isEmpty, "it reported '\(health.condition)' without a sentence")
      let key = health.address?.description ?? health.adapter ?? ""
      if var before = latest[key] {
        try require(
          before.time <= health.time,
          "of \(key), '\(health.condition)' began before '\(before.condition)', which it reported first"
        )
        before.time = health.time
        try require(before != health, "of \(key), it reported '\(health.condition)' twice")
      }
      latest[key] = health
      // A scanner that reports each advert once has lost reception, and receives nevertheless.
      if !health.isReceptionLost || !health.condition.isFault {
        lostSince = nil
      } else if lostSince == nil {
        lostSince = health.time
      }
    }

    func check(_ sighting: Sighting) throws {
      guard let lostSince else { return }
      try require(
        sighting.time <= lostSince,
        "it received at \(sighting.time), with reception lost since \(lostSince)")
    }
  }
}

/// Throws a violation with a sentence unless a condition holds.
func require(_ holds: Bool, _ sentence: @autoclosure () -> String) throws {
  if !holds { throw ScannerContract.Violation(description: sentence()) }
}

/// A member of a protocol extension needs a conforming type.
private let maximumReceiveTime: Int64 = ScriptedScanner.maximumReceiveTime
