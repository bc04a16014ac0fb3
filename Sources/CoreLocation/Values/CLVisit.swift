public import Foundation

/// A place where one stayed, and from when to when.
///
/// It is a value that subclasses and tests use; no service here finds one yet.
open class CLVisit: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable: nothing that is stored here ever changes. A subclass answers for what it adds.
  private let values: Values

  private struct Values {
    var arrival = Date.distantPast
    var departure = Date.distantFuture
    var coordinate = CLLocationCoordinate2D()
    var accuracy: CLLocationAccuracy = 0
  }

  /// When it began; `Date.distantPast` if that is not known.
  open var arrivalDate: Date { values.arrival }
  /// When it ended; `Date.distantFuture` if it has not.
  open var departureDate: Date { values.departure }
  /// Where.
  open var coordinate: CLLocationCoordinate2D { values.coordinate }
  /// The radius around ``coordinate`` that holds the place, in metres.
  open var horizontalAccuracy: CLLocationAccuracy { values.accuracy }

  /// Makes a visit of which nothing is known, for subclasses that override what they need.
  public override init() {
    values = Values()
    super.init()
  }

  /// Makes a visit.
  package init(
    arrivalDate: Date, departureDate: Date, coordinate: CLLocationCoordinate2D,
    horizontalAccuracy: CLLocationAccuracy
  ) {
    values = Values(
      arrival: arrivalDate, departure: departureDate, coordinate: coordinate,
      accuracy: horizontalAccuracy)
    super.init()
  }

  /// Whether it can be archived safely: it can.
  open class var supportsSecureCoding: Bool { true }

  /// Reads a visit from a keyed archive.
  ///
  /// - Parameter coder: The archive; `nil` is returned if it holds no visit.
  public required init?(coder: NSCoder) {
    guard coder.allowsKeyedCoding, coder.containsValue(forKey: "CLVisit.arrivalDate") else {
      return nil
    }
    values = Values(
      arrival: coder.decodeDate("CLVisit.arrivalDate"),
      departure: coder.decodeDate("CLVisit.departureDate"),
      coordinate: coder.decodeCoordinate("CLVisit"),
      accuracy: coder.decodeDouble(forKey: "CLVisit.horizontalAccuracy"))
    super.init()
  }

  /// Writes the visit to a keyed archive.
  ///
  /// - Parameter coder: The archive.
  open func encode(with coder: NSCoder) {
    coder.encodeDate(arrivalDate, "CLVisit.arrivalDate")
    coder.encodeDate(departureDate, "CLVisit.departureDate")
    coder.encodeCoordinate(coordinate, "CLVisit")
    coder.encode(horizontalAccuracy, forKey: "CLVisit.horizontalAccuracy")
  }

  /// Copies it without copying: it never changes.
  ///
  /// - Parameter zone: Not used.
  /// - Returns: The visit itself.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override var description: String {
    "\(CLLocation.text(of: coordinate)) +/- \(String(format: "%.2f", horizontalAccuracy))m "
      + "(arrival \(arrivalDate) / departure \(departureDate))"
  }
}
