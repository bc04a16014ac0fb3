import Scanning

/// The sentences about a receiver state, for people, if bluetoothd receives.
enum BlueZSentence {
  static func of(
    _ condition: ScannerHealth.Condition, adapter: String, detail: String? = nil
  ) -> String {
    let extra = detail.map { " (\($0))" } ?? ""
    switch condition {
    case .scanning: return "bluetoothd scans with \(adapter)\(extra)"
    case .shared:
      return
        "bluetoothd has no advertisement monitors for \(adapter)\(extra): it reports each beacon about "
        + "once in 10 s; give it the option --experimental, or scan with --backend hci"
    case .stopped:
      return "bluetoothd does not scan with \(adapter)\(extra); it is asked again"
    case .quiet:
      return
        "bluetoothd reports no advert from \(adapter)\(extra): no beacon is on air, or it has no antenna"
    case .down:
      return
        "\(adapter) is switched off; switch it on: busctl set-property org.bluez /org/bluez/\(adapter) "
        + "org.bluez.Adapter1 Powered b true"
    case .notAnswering: return BlueZView.Obstacle.notAnswering.sentence
    case .refused: return "bluetoothd refuses to scan with \(adapter)\(extra); it is asked again"
    case .notPermitted: return BlueZView.Obstacle.refused(detail ?? "no reason is known").sentence
    default: return HealthSentence.of(condition, adapter: adapter, detail: detail)
    }
  }

  /// Returns the sentence that an adapter is off, with the reason.
  static func off(_ adapter: Adapter) -> String {
    guard let block = adapter.block else { return of(.down, adapter: adapter.name) }
    return of(.blocked, adapter: adapter.name, detail: block.detail)
  }
}
