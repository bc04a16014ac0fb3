import CoreLocation
import Scanning
import ServiceCore

/// Grants authorization while the shop is open.
final class OpeningHours: AuthorizationProvider {
  private let hours: Range<Int>
  private let hour: @Sendable () -> Int

  init(
    _ hours: Range<Int>,
    hour: @escaping @Sendable () -> Int = { Calendar.current.component(.hour, from: Date()) }
  ) {
    (self.hours, self.hour) = (hours, hour)
  }

  func rule(for application: String, scanner: ScannerAvailability) -> AuthorizationRule {
    if case .notPermitted = scanner { return .denied }
    return hours.contains(hour()) ? .granted(.authorizedAlways) : .restricted
  }
}
