import CaptureFiles
import CoreLocation

// A recording to try it on. Without one, the environment says what is heard.
if let recording = CommandLine.arguments.dropFirst().first {
  var configuration = LocationServices.Configuration()
  configuration.scanner = try ReplayScanner(paths: [recording], speed: .max)
  configuration.persistence = .none
  LocationServices.bootstrap(configuration)
}

guard let uuid = UUID(uuidString: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0") else {
  fatalError("that is no UUID")
}
let visitor = CLBeaconRegion(uuid: uuid, major: 1, minor: 100, identifier: "the visitor")
let kiosk = Kiosk(visitor: visitor)
kiosk.open()

// A radio has no end; a recording has.
try await LocationServices.shared.ended()
