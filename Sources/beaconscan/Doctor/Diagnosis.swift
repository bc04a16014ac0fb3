import LiveScanning
import Scanning

extension Doctor {
  static func findings() -> [Finding] {
    var host = HostView.current()
    let bluez = BlueZView.current()
    host.bluez = bluez
    host.backend =
      BackendChoice.first(hci: HCIScanner().availability, bluez: bluez, of: .firstUsable).sentence
    return examine(host)
  }
}

extension CommandError {
  init?(preventing findings: [Finding]) {
    guard let obstacle = Doctor.obstacle(in: findings) else { return nil }
    self.init(
      [.permission, .policy].contains(obstacle.subject) ? .noPermission : .unavailable,
      "scanning does not work yet: \(obstacle.sentence)")
  }
}
