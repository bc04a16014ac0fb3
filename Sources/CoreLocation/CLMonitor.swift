/// An actor that watches named conditions and delivers an event when the state of one changes.
///
/// A monitor's name is its identity. Its conditions outlive the process: the next monitor with the same name has
/// them again.
public actor CLMonitor {
  private let monitor: ConditionMonitor

  /// Creates a monitor with a name, which must not be empty.
  public init(_ name: String) async { self.init(name, services: .shared) }

  /// Creates a monitor that uses other services than the process's own, for tests. Apple's actor has no such
  /// initializer.
  public init(_ name: String, services: LocationServices) { monitor = services.monitor(name) }

  /// The events of all conditions: one whenever the state of a condition changes.
  ///
  /// An event counts as delivered when the next one is requested. An event that was not delivered before the
  /// process ended is delivered again by the next process's monitor with the same name.
  public var events: Events { Events { [monitor] in monitor.iteration() } }

  /// The identifiers of the watched conditions, sorted.
  public var identifiers: [String] { monitor.identifiers }

  /// Starts watching a condition. It replaces a condition with the same identifier.
  public func add(_ condition: any CLCondition, identifier: String) {
    add(condition, identifier: identifier, assuming: .unknown)
  }

  /// Starts watching a condition with an assumed state. It replaces a condition with the same identifier. No event
  /// reports that the assumption was right.
  ///
  /// A condition that cannot be watched gets an event with the state ``CLMonitoringState/unmonitored``.
  public func add(
    _ condition: any CLCondition, identifier: String, assuming state: Event.State
  ) { monitor.add(condition, identifier: identifier, assuming: state) }

  /// Stops watching a condition, if there is one with the identifier.
  public func remove(_ identifier: String) { monitor.remove(identifier) }

  /// Returns a condition and its last event; `nil` if there is no condition with the identifier.
  public func record(for identifier: String) -> Record? { monitor.record(for: identifier) }
}
