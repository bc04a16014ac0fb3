import Glibc
import Scanning

extension ScannerAvailability {
  /// Looks whether one of the adapters that are meant can be used.
  init(of selection: AdapterSelection) {
    do throws(HCISocketError) {
      let all = try Adapter.all()
      let meant = all.filter(selection.means)
      guard let adapter = Adapter.best(of: meant) else {
        self = .unavailable(Self.missing(selection, among: all))
        return
      }
      let socket = try HCISocket.bound(to: adapter.index)
      if try !socket.filterForScanning() {
        self = .notPermitted(HealthSentence.of(.notPermitted, adapter: adapter.name))
      } else if !adapter.isUp, let block = adapter.block {
        let detail = block == .hard ? "a switch or key of this machine" : nil
        self = .unavailable(HealthSentence.of(.blocked, adapter: adapter.name, detail: detail))
      } else if !adapter.isUp, !ProcessRights.current().maySwitch {
        self = .unavailable(HealthSentence.of(.down, adapter: adapter.name))
      } else {
        self = .available
      }
    } catch {
      switch error.errno {
      case EAFNOSUPPORT, EPROTONOSUPPORT:
        self = .unavailable(HealthSentence.of(.noBluetooth, adapter: ""))
      case EPERM, EACCES:
        self = .notPermitted(
          HealthSentence.of(.notPermitted, adapter: error.adapter ?? "Bluetooth"))
      default:
        self = .unavailable("\(error); see what is wrong: beaconscan doctor")
      }
    }
  }

  private static func missing(_ selection: AdapterSelection, among all: [Adapter]) -> String {
    guard !all.isEmpty else { return "there is no Bluetooth adapter; plug one in" }
    let there = all.map { adapter in
      adapter.name + (adapter.address.map { " (\($0))" } ?? "")
    }
    return "there is no adapter \(selection); there is "
      + there.joined(separator: ", ")
  }
}
