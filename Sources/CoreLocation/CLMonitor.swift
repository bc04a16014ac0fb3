/// An actor that watches named conditions and delivers an event when the state of one changes. The
/// conditions outlive the process: the next monitor with the same name resumes them.
public actor CLMonitor {
  private let monitor: ConditionMonitor

  /// Creates a monitor with a name, which must not be empty.
  public init(_ name: String) async { self.init(name, services: .shared) }

  /// Creates a monitor with the given services, for tests. Apple's actor has no such initializer.
  public init(_ name: String, services: LocationServices) { monitor = services.monitor(name) }

  /// The events of all conditions, one for each change of state. Requesting the next event marks
  /// the one before as delivered; others are delivered again by the next process.
  public var events: Events { Events { [monitor] in monitor.iteration() } }

  /// The identifiers of the watched conditions, sorted.
  public var identifiers: [String] { monitor.identifiers }

  /// Starts watching a condition, in place of a condition with the same identifier.
  public func add(_ condition: any CLCondition, identifier: String) {
    add(condition, identifier: identifier, assuming: .unknown)
  }

  /// Starts watching a condition, in place of one with the same identifier, with an assumed state.
  /// A condition that cannot be watched gets an event with the state
  /// ``CLMonitoringState/unmonitored``.
  public func add(
    _ condition: any CLCondition, identifier: String, assuming state: Event.State
  ) { monitor.add(condition, identifier: identifier, assuming: state) }

  /// Stops watching the condition with the identifier, if there is one.
  public func remove(_ identifier: String) { monitor.remove(identifier) }

  /// Returns a condition and its last event; `nil` if there is no condition with the identifier.
  public func record(for identifier: String) -> Record? { monitor.record(for: identifier) }
}
