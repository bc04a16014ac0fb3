/// Watches conditions, each under a name, and gives events when they are met or no longer met.
///
/// A monitor's name is its identity: conditions outlive the process and are there again in the
/// monitor that is made next under that name.
public actor CLMonitor {
  /// The events of all conditions, as they come.
  public let events: Events

  /// Makes the monitor of a name.
  ///
  /// - Parameter name: Its name.
  public init(_ name: String) async {
    events = Events { AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { $0.finish() } }
  }

  /// The names of the conditions that are watched.
  public var identifiers: [String] { [] }

  /// Begins to watch a condition; one of the same name is replaced.
  ///
  /// - Parameters:
  ///   - condition: What to watch for.
  ///   - identifier: Its name.
  public func add(_ condition: any CLCondition, identifier: String) {
    add(condition, identifier: identifier, assuming: .unknown)
  }

  /// Begins to watch a condition of which something is known; one of the same name is replaced.
  ///
  /// - Parameters:
  ///   - condition: What to watch for.
  ///   - identifier: Its name.
  ///   - state: What is assumed until it is known: no event tells that it is so.
  public func add(
    _ condition: any CLCondition, identifier: String, assuming state: Event.State
  ) {}

  /// Ends watching the condition of a name; does nothing if there is none.
  ///
  /// - Parameter identifier: Its name.
  public func remove(_ identifier: String) {}

  /// Tells what is known of the condition of a name.
  ///
  /// - Parameter identifier: Its name.
  /// - Returns: The condition and its last event; `nil` if there is none of that name.
  public func record(for identifier: String) -> Record? { nil }
}
