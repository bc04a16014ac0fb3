import DBusMessages
import Positioning
import Scanning

struct SystemDaemon {
  var name: String
  var unit: String
  var subject: LocationHealth.Subject
  var absence: String
  var refusal: @Sendable (String) -> String

  /// Asks the bus whether the daemon is present, or has a device, whose absence has its own
  /// sentence.
  func availability(
    on address: BusAddress, without absenceOfDevice: String? = nil,
    isPresent: (BusConnection, Int64) throws(BusError) -> Bool
  ) -> ScannerAvailability {
    let limit = MonotonicTime.nanosecondsPerSecond
    do throws(BusError) {
      let bus = try BusConnection(address, limits: GeoClueSession.limits, timeout: limit)
      defer { bus.close() }
      return try isPresent(bus, limit) ? .available : .unavailable(absenceOfDevice ?? absence)
    } catch {
      return health(error).availability
    }
  }

  func health(_ error: BusError) -> LocationHealth {
    let (condition, sentence): (LocationHealth.Condition, String) =
      switch error {
      case .notPermitted(let reason): (.notPermitted, refusal(reason))
      case .unavailable(let address, let reason):
        (
          .notRunning,
          "the system's bus does not answer at \(address) (\(reason)); start it: "
            + "sudo systemctl start dbus"
        )
      case .failed(BusError.Name.serviceUnknown, _): (.notRunning, absence)
      case .timedOut, .congested:
        (.notAnswering, "\(name) does not answer; restart it: sudo systemctl restart \(unit)")
      case .disconnected:
        (.notRunning, "the connection to the system's bus ended; it is made again")
      case .failed(let error, let message):
        (.refused, "\(name) refuses (\(error): \(message))")
      case .invalid(let reason): (.refused, "D-Bus cannot be used (\(reason))")
      }
    return LocationHealth(condition, of: subject, at: MonotonicTime.now, sentence: sentence)
  }
}
