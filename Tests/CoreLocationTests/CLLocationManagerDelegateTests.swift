import CoreLocation
import TestSupport
import Testing

@testable import StrangersSwift5
@testable import StrangersSwift6

/// On the main thread, where managers then report: they do not read a stranger's subclass while the test sets it.
@MainActor @Suite struct CLLocationManagerDelegateTests {
  enum Event: CaseIterable, Sendable {
    case ranged, rangingFailed, authorization, location

    var new: String {
      switch self {
      case .ranged: "didRange:satisfying"
      case .rangingFailed: "didFailRangingFor"
      case .authorization: "didChangeAuthorization()"
      case .location: "didUpdateLocations"
      }
    }

    var old: String {
      switch self {
      case .ranged: "didRangeBeacons:in"
      case .rangingFailed: "rangingBeaconsDidFailFor"
      case .authorization: "didChangeAuthorization"
      case .location: "didUpdateTo:from"
      }
    }

    /// Tells a delegate as the engine does: the new way, and if that was passed over the old one.
    func tell(_ delegate: any CLLocationManagerDelegate, _ manager: CLLocationManager) {
      let region = CLBeaconRegion(uuid: UUID(), identifier: "r")
      let constraint = region.beaconIdentityConstraint
      let error = CLError(.rangingFailure)
      _ = manager.wasPassedOver()
      switch self {
      case .ranged: delegate.locationManager(manager, didRange: [], satisfying: constraint)
      case .rangingFailed:
        delegate.locationManager(manager, didFailRangingFor: constraint, error: error)
      case .authorization: delegate.locationManagerDidChangeAuthorization(manager)
      case .location: delegate.locationManager(manager, didUpdateLocations: [CLLocation()])
      }
      guard manager.wasPassedOver() else { return }
      switch self {
      case .ranged: delegate.locationManager(manager, didRangeBeacons: [], in: region)
      case .rangingFailed:
        delegate.locationManager(manager, rangingBeaconsDidFailFor: region, withError: error)
      case .authorization: delegate.locationManager(manager, didChangeAuthorization: .denied)
      case .location:
        delegate.locationManager(manager, didUpdateTo: CLLocation(), from: CLLocation())
      }
    }
  }

  @Test(arguments: Event.allCases) func `a delegate is told once, in the spelling it has`(
    event: Event
  ) {
    let manager = CLLocationManager()
    let (old, new, both) = (OldOnly(), NewOnly(), Both())
    for delegate in [old, new, both] as [any CLLocationManagerDelegate] {
      event.tell(delegate, manager)
    }
    #expect(old.told == [event.old])
    #expect(new.told == [event.new])
    #expect(both.told == [event.new])
    #expect(!manager.wasPassedOver())
    event.tell(Neither(), manager)
    #expect(manager.wasPassedOver())
    #expect(!manager.wasPassedOver())
  }

  @Test func `an override of a delegate's subclass is told`() {
    let delegate = Overriding()
    Event.ranged.tell(delegate, CLLocationManager())
    #expect(delegate.told == ["override"])
  }

  @Test func `an override below the conformance is called, an added method is not`() {
    let delegate = AddingListener()
    Event.ranged.tell(delegate, CLLocationManager())
    let caller: any CLLocationManagerDelegate = delegate
    let region = CLBeaconRegion(uuid: UUID(), identifier: "r")
    caller.locationManager(CLLocationManager(), didEnterRegion: region)
    #expect(delegate.told == ["entered"])
  }

  @Test func `optional calls reach every method`() {
    let manager = FakeManager()
    let multiplexer = Multiplexer()
    let (old, new) = (OldOnly(), NewOnly())
    multiplexer.add(old)
    multiplexer.add(new)
    let region = CLBeaconRegion(uuid: UUID(), identifier: "r")
    manager.delegate = multiplexer
    manager.simulate(beacons: [], in: region)
    manager.simulate(beacons: [CLBeacon()], for: region.beaconIdentityConstraint)
    manager.requestWhenInUseAuthorization()
    // The manager below may report its own status meanwhile.
    #expect(Set(old.told) == ["didRangeBeacons:in", "didChangeAuthorization"])
    #expect(Set(new.told) == ["didRange:satisfying", "didChangeAuthorization()"])
  }

  @Test func `a delegate's own property comes before ours`() {
    let delegate = NotAnNSObject()
    delegate.use()
    #expect(delegate.count == 1)
    let model = Plain()
    #expect(model.locationManager.delegate === model)
  }

  @Test func `a service behind a protocol works with a stranger's manager`() {
    let manager = InjectedManager()
    let service = GeofenceService(locationManager: manager)
    service.watch([CLBeaconRegion(uuid: UUID(), identifier: "a")])
    #expect(service.states == ["a": .unknown])
    #expect(service.isAllowed)
  }

  @Test func `an override is asked, not the manager`() {
    let manager = FakeManager(location: CLLocation(latitude: 1, longitude: 2))
    manager.desiredAccuracy = 5
    manager.distanceFilter = 6
    #expect(manager.location?.coordinate.latitude == 1)
    #expect(manager.desiredAccuracy == 5 && manager.distanceFilter == 6)
    #expect(manager.maximumRegionMonitoringDistance == 400)
    let errors = ErrorDelegate()
    let lost = FakeManager()
    lost.delegate = errors
    lost.startUpdatingLocation()
    #expect(errors.errors == [CLError(.locationUnknown)])
    #expect(FakeManager.isMonitoringAvailable(for: CLBeaconRegion.self))
    #expect(!FakeManager.isMonitoringAvailable(for: CLCircularRegion.self))
  }

  @Test func `delegates of the main actor are told on it`() async {
    let manager = StubManager()
    let model = NonisolatedModel(locationManager: manager)
    manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: UUID()))
    manager.delegate?.locationManager?(
      manager, didDetermineState: .inside, for: CLBeaconRegion(uuid: UUID(), identifier: "r"))
    #expect(model.state == .inside)
    await eventually { model.nearest != nil }
    #expect(model.nearest == 7)
    let tested = TestedModel()
    tested.fail(manager)
    #expect(tested.model.error as? CLError == CLError(.network))
  }
}
