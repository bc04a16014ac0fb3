// Subclasses of the manager in the shapes that apps and their tests have, and protocols that stand for it.
import CoreLocation

class CountedManager: CLLocationManager { var starts = 0 }

class NamedManager: CLLocationManager {
  let name: String
  init(name: String) { self.name = name }
}

class InitializedManager: CLLocationManager {
  var isReady: Bool
  override init() { isReady = true }
}

protocol TemporaryAccuracy {
  func requestTemporaryFullAccuracyAuthorization(withPurposeKey: String)
}
protocol TemporaryAccuracyAnswer {
  func requestTemporaryFullAccuracyAuthorization(
    withPurposeKey: String, completion: ((Error?) -> Void)?)
}
protocol TemporaryAccuracyTask {
  func requestTemporaryFullAccuracyAuthorization(withPurposeKey: String) async throws
}
extension CLLocationManager: TemporaryAccuracy, TemporaryAccuracyAnswer, TemporaryAccuracyTask {}

func askForAccuracy(_ manager: CLLocationManager, _ other: TemporaryAccuracy) {
  manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "navigation")
  manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "navigation") { error in
    print(error?.localizedDescription ?? "")
  }
  manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "navigation", completion: nil)
  other.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "navigation")
}

func accuracyRefusal(_ manager: TemporaryAccuracyTask) async -> CLError.Code? {
  do {
    try await manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "navigation")
    return nil
  } catch {
    return (error as? CLError)?.code
  }
}

extension CLBeacon {
  var distance: CLLocationDistance { return accuracy }
}

class NotedRegion: CLBeaconRegion {
  var note = ""
  override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(note as NSString, forKey: "identifier")
    coder.encode(note as NSString, forKey: "uuid")
  }
  override init(uuid: UUID, major: CLBeaconMajorValue, identifier: String) {
    super.init(uuid: uuid, major: major, identifier: identifier)
  }
  required init?(coder: NSCoder) {
    super.init(coder: coder)
    note = coder.decodeObject(of: NSString.self, forKey: "uuid").map { "\($0)" } ?? ""
  }
}
