// CLError in every form that people match it with.
import CoreLocation

func describe(_ error: Error) -> String {
  switch error {
  case CLError.denied: return "denied"
  case CLError.locationUnknown, CLError.network: return "retry"
  case CLError.regionMonitoringFailure: return "monitoring"
  case let error as CLError where error.code == .rangingUnavailable: return "no ranging"
  case is CLError: return "other CLError"
  default: return "foreign"
  }
}

func byCode(_ error: Error) -> String {
  guard let clError = error as? CLError else { return "foreign" }
  switch clError.code {
  case .locationUnknown: return "locationUnknown"
  case .denied: return "denied"
  case .network: return "network"
  case .headingFailure: return "headingFailure"
  case .regionMonitoringDenied: return "regionMonitoringDenied"
  case .regionMonitoringFailure: return "regionMonitoringFailure"
  case .regionMonitoringSetupDelayed: return "regionMonitoringSetupDelayed"
  case .regionMonitoringResponseDelayed: return "regionMonitoringResponseDelayed"
  case .geocodeFoundNoResult: return "geocodeFoundNoResult"
  case .geocodeFoundPartialResult: return "geocodeFoundPartialResult"
  case .geocodeCanceled: return "geocodeCanceled"
  case .deferredFailed: return "deferredFailed"
  case .deferredNotUpdatingLocation: return "deferredNotUpdatingLocation"
  case .deferredAccuracyTooLow: return "deferredAccuracyTooLow"
  case .deferredDistanceFiltered: return "deferredDistanceFiltered"
  case .deferredCanceled: return "deferredCanceled"
  case .rangingUnavailable: return "rangingUnavailable"
  case .rangingFailure: return "rangingFailure"
  case .promptDeclined: return "promptDeclined"
  case .historicalLocationError: return "historicalLocationError"
  }
}

func byOptional(_ error: Error) -> String {
  switch (error as? CLError)?.code {
  case .some(.denied): return "denied"
  case .network?: return "network"
  case .locationUnknown: return "unknown"
  case .none: return "foreign"
  default: return "other"
  }
}

func byNumber(_ error: Error) -> Bool {
  let nsError = error as NSError
  return nsError.domain == kCLErrorDomain && nsError.code == CLError.Code.denied.rawValue
    && error._code == CLError.denied.rawValue && CLError.errorDomain == kCLErrorDomain
}

func byRawValue(_ error: Error) -> CLError.Code? {
  return CLError.Code(rawValue: (error as NSError).code)
}

func caught(_ body: () throws -> Void) -> String {
  do {
    try body()
    return "none"
  } catch CLError.denied {
    return "denied"
  } catch CLError.network {
    return "network"
  } catch let e as CLError where e.code == .rangingFailure {
    return "ranging"
  } catch let error as CLError {
    return "CLError \(error.errorCode)"
  } catch let error as NSError where error.domain == kCLErrorDomain {
    return "NSError \(error.code)"
  } catch {
    return "foreign"
  }
}

func ifCase(_ error: Error) -> Bool {
  if case CLError.denied = error { return true }
  if let error = error as? CLError, error.code == CLError.denied { return true }
  if (error as? CLError)?.code == .denied { return true }
  guard CLError.Code.denied ~= error else { return false }
  return true
}

func made() -> [Error] {
  return [
    CLError(.denied), CLError(CLError.Code.denied),
    CLError(_nsError: NSError(domain: kCLErrorDomain, code: 1, userInfo: nil)),
    NSError(domain: kCLErrorDomain, code: CLError.denied.rawValue, userInfo: nil),
    NSError(domain: CLError.errorDomain, code: CLError.Code.denied.rawValue),
    CLError(.denied, userInfo: [NSLocalizedDescriptionKey: "No."]),
    CLError(.denied) as NSError,
  ]
}

class ErrorDelegate: NSObject, CLLocationManagerDelegate {
  var errors = [CLError]()
  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) {
    if let error = error as? CLError { errors.append(error) }
    if (error as NSError).code == CLError.Code.locationUnknown.rawValue { return }
    if let clErr = error as? CLError {
      switch clErr {
      case CLError.locationUnknown: print("location unknown")
      case CLError.denied: print("denied")
      default: print("other Core Location error")
      }
    } else {
      print("other error:", error.localizedDescription)
    }
  }
}
