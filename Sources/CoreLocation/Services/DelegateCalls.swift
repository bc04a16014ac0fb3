import Positioning
import Scanning
import ServiceCore
import Synchronization

/// Moves a manager's events to the thread or queue on which its delegate is called.
final class DelegateCalls: Sendable {
  private struct State {
    var context: DeliveryContext
    /// The manager; `nil` before it is complete.
    var manager: WeakManager?
    /// The events from before the manager was complete.
    var early: [ServiceDelivery] = []
    /// The report of the authorization that is on its way.
    var status: StatusCall?
    /// Whether a report of the authorization found no delegate.
    var missedStatus = false
    /// The authorization last reported to the delegate.
    var toldStatus: CLAuthorizationStatus?
    /// The authorization last read from the manager.
    var readStatus: CLAuthorizationStatus?
    /// The faults of locations, of the compass and, without a subject, of the receiver of beacons.
    var faults: [LocationHealth.Subject?: Fault] = [:]
  }

  private struct Fault {
    /// Whether the source refuses the application; `nil` without a fault.
    var isRefusal: Bool?
    /// The report of the latest fault while it is on its way; otherwise `nil`.
    var report: (@Sendable (CLLocationManager) -> Void)?
  }

  /// A report of the authorization, which is made once even if it was sent to two places.
  private final class StatusCall: Sendable {
    let delivery: ServiceDelivery
    private let isClaimed = Atomic<Bool>(false)

    init(_ delivery: ServiceDelivery) { self.delivery = delivery }

    func claim() -> Bool { !isClaimed.exchange(true, ordering: .acquiringAndReleasing) }
  }

  private let state: Mutex<State>

  init(in context: DeliveryContext) { state = Mutex(State(context: context)) }

  func begin(for manager: CLLocationManager) {
    let weak = WeakManager(value: manager)
    let early = state.withLock { state in
      state.manager = weak
      defer { state.early.removeAll() }
      return state.early
    }
    for delivery in early { deliver(delivery) }
  }

  /// Takes an event, and calls the delegate for it soon.
  func deliver(_ delivery: ServiceDelivery) {
    let call = delivery.event is AuthorizationEvent ? StatusCall(delivery) : nil
    let place = state.withLock { state -> (DeliveryContext, WeakManager)? in
      guard let manager = state.manager else {
        state.early.append(delivery)
        return nil
      }
      if let call { state.status = call }
      return (state.context, manager)
    }
    guard let (context, manager) = place else { return }
    if let call {
      context.perform { [self] in perform(call, manager) }
    } else if case .health(let health, _)? = delivery.event as? BeaconEvent {
      deliver(delivery, of: nil, isRefusal: health.isReceptionLost ? false : nil) {
        $0.deliverFault(health.sentence)
      }
    } else if case .health(let health, _)? = delivery.event as? LocationEvent {
      let isRefusal = health.condition.isFault ? health.isRefusal : nil
      deliver(delivery, of: health.subject, isRefusal: isRefusal) { $0.deliverFault(health) }
    } else {
      context.perform {
        if let manager = manager.value, manager.delegate != nil {
          manager.deliver(delivery)
          delivery.acknowledge()
        }
        delivery.finish()
      }
    }
  }

  /// Calls a function soon where the delegate is called.
  func perform(_ body: @escaping @Sendable (CLLocationManager) -> Void) {
    let (context, manager) = state.withLock { ($0.context, $0.manager) }
    context.perform { if let manager = manager?.value { body(manager) } }
  }

  /// Records the authorization that was read, perhaps by the delegate during a report.
  func noteRead(_ status: CLAuthorizationStatus) { state.withLock { $0.readStatus = status } }

  private func perform(_ call: StatusCall, _ manager: WeakManager) {
    guard call.claim() else { return }
    reportStatus(to: manager.value)
    state.withLock { if $0.status === call { $0.status = nil } }
    // A delegate set in the meantime found no missed report.
    if manager.value?.delegate != nil { delegateWasSet() }
    call.delivery.complete()
  }

  /// Reports the authorization to the delegate, unless it is the one last reported.
  private func reportStatus(to manager: CLLocationManager?) {
    let status = manager?.authorizationStatus
    // A change before the first report causes no second report.
    let isKnown = state.withLock { state in
      state.readStatus = nil
      return state.toldStatus != nil && state.toldStatus == status
    }
    let isDelivered = isKnown || manager?.deliverAuthorization() ?? false
    state.withLock { state in
      // The status may have changed before the delegate read it.
      if isDelivered { state.toldStatus = state.readStatus ?? status }
      state.missedStatus = !isDelivered
    }
  }

  /// Reports the authorization to a delegate that was set after the report was due.
  func delegateWasSet() {
    let missed = state.withLock { state in
      defer { state.missedStatus = false }
      return state.missedStatus
    }
    if missed { perform { [self] in reportStatus(to: $0) } }
  }

  /// Calls the delegate in another place from now on, also for a first report that waits.
  func move(to context: (DeliveryContext) -> DeliveryContext) {
    let moved = state.withLock { state -> (DeliveryContext, StatusCall, WeakManager)? in
      let old = state.context
      state.context = context(old)
      guard !old.isSame(as: state.context), let status = state.status, let manager = state.manager
      else { return nil }
      return (state.context, status, manager)
    }
    guard let (context, status, manager) = moved else { return }
    context.perform { [self] in perform(status, manager) }
  }

  /// Forgets the fault of the receiver of beacons, so it is reported again after a rest.
  func forgetFault() { state.withLock { $0.faults[nil]?.isRefusal = nil } }

  /// Reports a fault once, and again if it becomes a refusal. A slow delegate gets the latest. The
  /// subject is `nil` for the receiver of beacons, and `isRefusal` is `nil` without a fault.
  private func deliver(
    _ delivery: ServiceDelivery, of subject: LocationHealth.Subject?, isRefusal: Bool?,
    _ report: @escaping @Sendable (CLLocationManager) -> Void
  ) {
    let starts = state.withLock { state -> Bool in
      var fault = state.faults[subject] ?? Fault()
      defer { state.faults[subject] = fault }
      let previous = fault.isRefusal
      fault.isRefusal = isRefusal
      guard isRefusal != nil, isRefusal != previous else { return false }
      defer { fault.report = report }
      return fault.report == nil
    }
    guard starts else { return delivery.finish() }
    perform { [self] manager in
      let report = state.withLock { $0.faults[subject]?.report.take() }
      if let report, manager.delegate != nil { report(manager) }
      delivery.finish()
    }
  }
}

struct WeakManager: @unchecked Sendable {
  // Sendable: it only carries the manager to the place where its delegate is called.
  weak let value: CLLocationManager?
}
