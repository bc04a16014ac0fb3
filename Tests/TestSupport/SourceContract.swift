package import Scanning

/// The contract of every source of inputs, as checks that any test framework can run.
package enum SourceContract {
  package struct Violation: Error, CustomStringConvertible {
    package let description: String
  }

  /// Checks a live source that was not used yet: receives until it reports a state, at most `limit`
  /// times, rests, makes the change, and does so again. Returns the latest states before and after
  /// the rest.
  ///
  /// - Throws: ``Violation``, or an error of the source or the change.
  @discardableResult
  package static func check<S: Source>(
    _ source: S, for demand: S.Demand, time: @escaping (S.Input) -> MonotonicTime,
    limit: Int = 20_000,
    whileResting change: () throws -> Void = {}
  ) throws -> (before: S.Health, after: S.Health) {
    try require(!source.name.isEmpty, "it has no name")
    // A rest before the first call changes nothing.
    source.rest()
    var run = Run(source: source, demand: demand, time: time, limit: limit)
    let before = try run.receiveState()
    // Both a deadline in the past and an earlier wake end a wait.
    try run.receive(until: run.reached)
    source.wake()
    try run.receive(until: nil)
    source.rest()
    source.rest()
    try change()
    run.told = []
    let after = try run.receiveState()
    source.rest()
    return (before, after)
  }

  private struct Run<S: Source> {
    let source: S
    let demand: S.Demand
    /// Returns the time of an input.
    let time: (S.Input) -> MonotonicTime
    let limit: Int
    var inputs: [S.Input] = []
    var reached: MonotonicTime?
    /// The states reported since the latest rest.
    var told: [S.Health] = []

    /// Receives until a state was reported since the latest rest, and returns it.
    mutating func receiveState() throws -> S.Health {
      for _ in 0..<limit {
        try receive(until: nil)
        if let state = told.last { return state }
      }
      throw Violation(
        description: "\(source.name) reported no state in \(limit) calls")
    }

    mutating func receive(until deadline: MonotonicTime?) throws {
      let progress = try source.receive(for: demand, until: deadline, into: &inputs)
      if let reached, let now = progress.reached {
        try require(now >= reached, "\(source.name): time went back from \(reached) to \(now)")
      }
      reached = progress.reached ?? reached
      let times = inputs.map(time)
      try require(
        zip(times, times.dropFirst()).allSatisfy { $0 <= $1 }, "\(source.name): inputs out of order"
      )
      if let last = times.last, let reached {
        try require(last <= reached, "\(source.name): an input lies after what has been reached")
      }
      for change in progress.health {
        try require(!change.sentence.isEmpty, "\(source.name): a state without a sentence")
        try require(
          told.last?.isRepetition(of: change) != true,
          "\(source.name) reported twice: \(change.sentence)")
        told.append(change)
      }
    }
  }

  private static func require(_ holds: Bool, _ sentence: @autoclosure () -> String) throws {
    if !holds { throw Violation(description: sentence()) }
  }
}
