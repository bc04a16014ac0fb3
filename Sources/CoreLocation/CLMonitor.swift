/// Watches conditions, each under a name, and gives events when they are met or no longer met.
///
/// A monitor's name is its identity: conditions outlive the process and are there again in the
/// monitor that is made next under that name.
public actor CLMonitor {
  private let name: String
  private let services: LocationServices

  /// Makes the monitor of a name.
  ///
  /// - Parameter name: Its name; not empty.
  public init(_ name: String) async {
    self.init(name, services: .shared)
  }

  /// Makes the monitor of a name, of other services than the process's, as tests need it. Apple's has none.
  ///
  /// - Parameters:
  ///   - name: Its name; not empty.
  ///   - services: The services.
  public init(_ name: String, services: LocationServices) {
    self.name = name
    self.services = services
    services.open(monitor: name)
  }

  /// The events of all conditions, as they come: whenever the state of one changes.
  ///
  /// An event counts as told when the next one is asked for. One that was not told before the process
  /// ended is given again by the next process's monitor of the same name.
  public var events: Events {
    Events(services: services, monitor: name)
  }

  /// The names of the conditions that are watched, sorted.
  public var identifiers: [String] { services.conditions(of: name).keys.sorted() }

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
  /// What cannot be watched is told in an event of the state ``CLMonitoringState/unmonitored``.
  ///
  /// - Parameters:
  ///   - condition: What to watch for.
  ///   - identifier: Its name.
  ///   - state: What is assumed until it is known: no event tells that it is so.
  public func add(
    _ condition: any CLCondition, identifier: String, assuming state: Event.State
  ) {
    services.watch(condition, identifier: identifier, assuming: state, for: name)
  }

  /// Ends watching the condition of a name; does nothing if there is none.
  ///
  /// - Parameter identifier: Its name.
  public func remove(_ identifier: String) {
    services.unwatch(identifier, for: name)
  }

  /// What is known of the condition of a name.
  ///
  /// - Parameter identifier: Its name.
  /// - Returns: The condition and its last event; `nil` if there is none.
  public func record(for identifier: String) -> Record? {
    services.conditions(of: name)[identifier].map { condition in
      Record(condition: condition.condition, lastEvent: condition.lastEvent)
    }
  }
}
