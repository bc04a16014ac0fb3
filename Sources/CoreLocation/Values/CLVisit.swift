public import Foundation
import Positioning

/// A stay at a place. ``CLLocationManager/startMonitoringVisits()`` reports its begin and end.
open class CLVisit: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable: the stored values never change. A subclass is responsible for what it adds.
  private let values: Values

  private struct Values {
    var arrival = Date.distantPast
    var departure = Date.distantFuture
    var coordinate = CLLocationCoordinate2D()
    var accuracy: CLLocationAccuracy = 0
  }

  /// The time of the arrival; `Date.distantPast` if that is not known.
  open var arrivalDate: Date { values.arrival }
  /// The time of the departure; `Date.distantFuture` while the visit continues.
  open var departureDate: Date { values.departure }
  /// The place.
  open var coordinate: CLLocationCoordinate2D { values.coordinate }
  /// The radius around ``coordinate`` that holds the place, in meters.
  open var horizontalAccuracy: CLLocationAccuracy { values.accuracy }

  /// Creates a visit without values, for subclasses that override what they need.
  public override init() {
    values = Values()
    super.init()
  }

  init(_ visit: VisitReport) {
    values = Values(
      arrival: visit.arrival.map { Date($0) } ?? .distantPast,
      departure: visit.departure.map { Date($0) } ?? .distantFuture,
      coordinate: CLLocationCoordinate2D(visit.place), accuracy: visit.horizontalAccuracy)
    super.init()
  }

  /// A Boolean value that indicates whether the class supports secure coding: `true`.
  open class var supportsSecureCoding: Bool { true }

  /// Creates a visit from a keyed archive; `nil` if there is none, except for a subclass.
  public required init?(coder: NSCoder) {
    guard coder.allowsKeyedCoding,
      Self.self != CLVisit.self || coder.containsValue(forKey: "CLVisit.arrivalDate")
    else { return nil }
    values = Values(
      arrival: coder.decodeDate("CLVisit.arrivalDate"),
      departure: coder.decodeDate("CLVisit.departureDate"),
      coordinate: coder.decodeCoordinate("CLVisit"),
      accuracy: coder.decodeNumber("CLVisit.horizontalAccuracy"))
    super.init()
  }

  /// Writes the visit to a keyed archive.
  open func encode(with coder: NSCoder) {
    coder.encodeDate(arrivalDate, "CLVisit.arrivalDate")
    coder.encodeDate(departureDate, "CLVisit.departureDate")
    coder.encodeCoordinate(coordinate, "CLVisit")
    coder.encode(horizontalAccuracy, forKey: "CLVisit.horizontalAccuracy")
  }

  /// Returns the object itself, because it never changes.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override var description: String {
    "\(CLLocation.text(of: coordinate)) +/- \(String(format: "%.2f", horizontalAccuracy))m "
      + "(arrival \(arrivalDate) / departure \(departureDate))"
  }
}
