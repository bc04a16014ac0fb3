// Where one was today, and for how long.
import CoreLocation

final class VisitDiary: NSObject, CLLocationManagerDelegate {
  struct Entry {
    var coordinate: CLLocationCoordinate2D
    var arrival: Date?
    var departure: Date?
    var duration: TimeInterval? {
      guard let arrival = arrival, let departure = departure else { return nil }
      return departure.timeIntervalSince(arrival)
    }
  }

  private(set) var entries = [Entry]()
  private(set) var calls = [String]()
  private let manager: CLLocationManager

  init(manager: CLLocationManager = CLLocationManager()) {
    self.manager = manager
    super.init()
    manager.delegate = self
    manager.requestAlwaysAuthorization()
    manager.startMonitoringVisits()
  }

  func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) {
    let isArrival = visit.departureDate == Date.distantFuture
    calls.append(isArrival ? "arrived" : "left")
    let arrival = visit.arrivalDate == .distantPast ? nil : visit.arrivalDate
    if isArrival {
      entries.append(Entry(coordinate: visit.coordinate, arrival: arrival, departure: nil))
    } else if let index = entries.lastIndex(where: { $0.arrival == arrival }) {
      entries[index].departure = visit.departureDate
      entries[index].coordinate = visit.coordinate
    } else {
      entries.append(
        Entry(coordinate: visit.coordinate, arrival: arrival, departure: visit.departureDate))
    }
  }
}
