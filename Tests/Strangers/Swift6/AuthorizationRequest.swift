// One question, one answer: a continuation around the delegate.
import CoreLocation

@MainActor
final class AuthorizationRequest: NSObject {
  private let locationManager = CLLocationManager()
  private var continuation: CheckedContinuation<CLAuthorizationStatus, Never>?

  override init() {
    super.init()
    locationManager.delegate = self
  }

  func status() async -> CLAuthorizationStatus {
    guard locationManager.authorizationStatus == .notDetermined else {
      return locationManager.authorizationStatus
    }
    return await withCheckedContinuation { continuation in
      self.continuation = continuation
      locationManager.requestWhenInUseAuthorization()
    }
  }

  func fullAccuracy() async throws -> Bool {
    if locationManager.accuracyAuthorization == .fullAccuracy { return true }
    try await locationManager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "Find")
    return locationManager.accuracyAuthorization == .fullAccuracy
  }
}

extension AuthorizationRequest: CLLocationManagerDelegate {
  nonisolated func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    let status = manager.authorizationStatus
    Task { @MainActor in
      guard status != .notDetermined else { return }
      continuation?.resume(returning: status)
      continuation = nil
    }
  }
}
