import Scanning

enum BlueZSentence {
  static func of(
    _ condition: ScannerHealth.Condition, adapter: String, detail: String? = nil
  ) -> String {
    let extra = detail.map { " (\($0))" } ?? ""
    return switch condition {
    case .scanning: "bluetoothd scans with \(adapter)\(extra)"
    case .shared:
      "bluetoothd has no advertisement monitors for \(adapter)\(extra): it reports each beacon about "
        + "once in 10 s; give it the option --experimental, or scan with --backend hci"
    case .stopped: "bluetoothd does not scan with \(adapter)\(extra); it is asked again"
    case .quiet:
      "bluetoothd reports no advert from \(adapter)\(extra): no beacon is on air, or it has no antenna"
    case .down:
      "\(adapter) is switched off; switch it on: busctl set-property org.bluez /org/bluez/\(adapter) "
        + "org.bluez.Adapter1 Powered b true"
    case .notAnswering: BlueZView.Obstacle.notAnswering.sentence
    case .refused: "bluetoothd refuses to scan with \(adapter)\(extra); it is asked again"
    case .notPermitted: BlueZView.Obstacle.refused(detail ?? "no reason is known").sentence
    default: HealthSentence.of(condition, adapter: adapter, detail: detail)
    }
  }
}
