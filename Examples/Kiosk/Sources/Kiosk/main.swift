import CaptureFiles
import CoreLocation

do {
  // A recording to try the kiosk with. Without one, the machine's adapters receive.
  if let recording = CommandLine.arguments.dropFirst().first {
    var configuration = LocationServices.Configuration()
    configuration.scanner = try ReplayScanner(paths: [recording], speed: .max)
    configuration.persistence = .none
    LocationServices.bootstrap(configuration)
  }

  let kiosk = Kiosk()
  kiosk.open()

  // A recording has an end. A radio has none, unless it fails permanently.
  try await LocationServices.shared.ended()
} catch let error as CaptureError {
  print("This kiosk cannot read the recording: \(error)")
  exit(1)
} catch {
  print("This kiosk has stopped: \(error.localizedDescription)")
  exit(1)
}
