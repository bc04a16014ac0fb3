import BeaconTesting
import CoreLocation
import Dispatch
import Logging

/// Makes the shared services with a logger that itself needs them, on another thread.
enum SharedServices {
  static func run() {
    LoggingSystem.bootstrap { _ in Handler() }
    _ = LocationServices.shared
    print("made")
  }

  private struct Handler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      print("logged \(event.message)")
      let isDone = DispatchSemaphore(value: 0)
      DispatchQueue.global().async {
        var configuration = LocationServices.Configuration()
        configuration.scanner = ScriptedScanner()
        print(LocationServices.bootstrap(configuration) ? "bootstrapped" : "late")
        isDone.signal()
      }
      isDone.wait()
    }
  }
}
