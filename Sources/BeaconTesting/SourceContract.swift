package import Scanning

/// The contract of every source of inputs, as checks that any test framework can run.
package enum SourceContract {
  /// What a source did that the contract forbids.
  package struct Violation: Error, CustomStringConvertible {
    package let description: String
  }

  /// Receives with a live source until it has a state, has it rest, and receives until it has reported its state anew.
  ///
  /// - Parameters:
  ///   - source: A source that was not used yet.
  ///   - demand: What is needed of it.
  ///   - time: The time of an input.
  ///   - limit: How often it is received from at most, until a state comes.
  ///   - change: What happens while it rests, such as the end of a fault, or nothing.
  /// - Returns: The latest states before and after the rest.
  /// - Throws: ``Violation``, or what the source or the change threw.
  @discardableResult
  package static func check<S: Source>(
    _ source: S, for demand: S.Demand, time: (S.Input) -> MonotonicTime, limit: Int = 20_000,
    whileResting change: () throws -> Void = {}
  ) throws -> (before: S.Health, after: S.Health) {
    try require(!source.name.isEmpty, "it has no name")
    // Nothing was received yet: a rest changes nothing.
    source.rest()
    var run = Run<S>(limit: limit)
    let before = try run.receiveState(source, demand, time)
    // A deadline in the past and a signal that was sent end a wait.
    _ = try run.receive(source, demand, time, until: run.reached)
    source.wake()
    _ = try run.receive(source, demand, time, until: nil)
    source.rest()
    source.rest()
    try change()
    run.told = []
    let after = try run.receiveState(source, demand, time)
    source.rest()
    return (before, after)
  }

  private static func require(_ holds: Bool, _ sentence: @autoclosure () -> String) throws {
    if !holds { throw Violation(description: sentence()) }
  }

  /// One use of a source.
  private struct Run<S: Source> {
    let limit: Int
    var inputs: [S.Input] = []
    var reached: MonotonicTime?
    /// What was reported since the latest rest.
    var told: [S.Health] = []

    /// Receives until a state was reported since the latest rest, and returns it.
    mutating func receiveState(
      _ source: S, _ demand: S.Demand, _ time: (S.Input) -> MonotonicTime
    ) throws -> S.Health {
      for _ in 0..<limit {
        try receive(source, demand, time, until: nil)
        if let state = told.last { return state }
      }
      throw Violation(description: "\(source.name) reported no state in \(limit) calls")
    }

    mutating func receive(
      _ source: S, _ demand: S.Demand, _ time: (S.Input) -> MonotonicTime,
      until deadline: MonotonicTime?
    ) throws {
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
}
