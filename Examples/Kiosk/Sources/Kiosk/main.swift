import CaptureFiles
import CoreLocation

do {
  // A recording to try it on. Without one, the environment says what is heard.
  if let recording = CommandLine.arguments.dropFirst().first {
    var configuration = LocationServices.Configuration()
    configuration.scanner = try ReplayScanner(paths: [recording], speed: .max)
    configuration.persistence = .none
    LocationServices.bootstrap(configuration)
  }

  let kiosk = Kiosk()
  kiosk.open()

  // A radio has no end; a recording has.
  try await LocationServices.shared.ended()
} catch {
  print("the kiosk cannot work: \(error.localizedDescription)")
  exit(1)
}
