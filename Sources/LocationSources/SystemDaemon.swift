import DBusMessages
import Positioning
import Scanning

/// The texts about a daemon on the system bus, for reports of its faults.
struct SystemDaemon {
  /// The display name.
  var name: String
  /// The systemd unit to restart.
  var unit: String
  var subject: LocationHealth.Subject
  /// The sentence for a daemon that is absent.
  var absence: String
  /// Returns the sentence for a call that the bus does not permit, from the bus's reason.
  var refusal: @Sendable (String) -> String

  /// Returns the state of a source after an error of its daemon or the bus.
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
