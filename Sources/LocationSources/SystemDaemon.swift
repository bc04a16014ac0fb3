import DBusMessages
import Positioning
import Scanning

/// A daemon on the system's bus, as far as sentences about its faults are concerned.
struct SystemDaemon {
  /// The name that a person knows.
  var name: String
  /// The systemd unit that restarts it.
  var unit: String
  var subject: LocationHealth.Subject
  /// What the absence of the daemon means: a sentence.
  var absence: String
  /// What it means that the bus permits a call to others only: a sentence, made of the bus's reason.
  var refusal: @Sendable (String) -> String

  /// Returns the state of a source whose daemon or bus answers with an error.
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
