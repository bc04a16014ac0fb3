public import Foundation

/// The domain of every error of this module.
public let kCLErrorDomain: String = "kCLErrorDomain"

/// The key of the ``CLError/alternateRegion``.
public let kCLErrorUserInfoAlternateRegionKey: String = "kCLErrorUserInfoAlternateRegionKey"

extension CLError {
  /// The reason of an error.
  @frozen
  public enum Code: Int, Sendable, _ErrorCodeProtocol {
    /// The error type of the codes.
    public typealias _ErrorType = CLError

    /// The location is not known now; it may become known.
    case locationUnknown = 0
    /// The app is not authorized to use location services.
    case denied = 1
    /// The network is not available or has failed.
    case network = 2
    /// The heading cannot be determined.
    case headingFailure = 3
    /// The app is not authorized to monitor regions.
    case regionMonitoringDenied = 4
    /// A region cannot be monitored: unknown kind, too large, or one too many.
    case regionMonitoringFailure = 5
    /// Monitoring could not start at once.
    case regionMonitoringSetupDelayed = 6
    /// Events of a region may come late.
    case regionMonitoringResponseDelayed = 7
    /// A geocoder found nothing.
    case geocodeFoundNoResult = 8
    /// A geocoder found only a part of the place.
    case geocodeFoundPartialResult = 9
    /// A geocoder was canceled.
    case geocodeCanceled = 10
    /// Updates cannot be deferred.
    case deferredFailed = 11
    /// Updates were not deferred, because location updates are not started.
    case deferredNotUpdatingLocation = 12
    /// Updates cannot be deferred at this accuracy.
    case deferredAccuracyTooLow = 13
    /// Updates cannot be deferred with a distance filter.
    case deferredDistanceFiltered = 14
    /// Deferred updates were canceled or requested again.
    case deferredCanceled = 15
    /// Beacons cannot be ranged here, or not now.
    case rangingUnavailable = 16
    /// Ranging failed.
    case rangingFailure = 17
    /// The user declined the request, or it was not necessary.
    case promptDeclined = 18
    /// Past locations cannot be read.
    case historicalLocationError = 19
  }
}

extension CLError.Code {
  var sentence: String {
    switch self {
    case .locationUnknown: "The location is not known yet."
    case .denied: "This app may not use location services."
    case .network: "The network is not available or has failed."
    case .headingFailure: "The heading cannot be determined."
    case .regionMonitoringDenied: "This app may not monitor regions."
    case .regionMonitoringFailure: "The region cannot be monitored."
    case .regionMonitoringSetupDelayed: "Monitoring of the region could not start at once."
    case .regionMonitoringResponseDelayed: "Events of the region may come late."
    case .geocodeFoundNoResult: "No place was found."
    case .geocodeFoundPartialResult: "Only a part of the place was found."
    case .geocodeCanceled: "The search for the place was canceled."
    case .deferredFailed: "Location updates cannot be deferred."
    case .deferredNotUpdatingLocation:
      "Location updates cannot be deferred because they have not been started."
    case .deferredAccuracyTooLow:
      "Location updates cannot be deferred because the desired accuracy is too low."
    case .deferredDistanceFiltered:
      "Location updates cannot be deferred while a distance filter is set."
    case .deferredCanceled: "Deferred location updates were canceled."
    case .rangingUnavailable: "Beacons cannot be ranged on this device now."
    case .rangingFailure: "Ranging of beacons has failed."
    case .promptDeclined: "The request for authorization was declined."
    case .historicalLocationError: "Past locations cannot be read."
    }
  }
}
