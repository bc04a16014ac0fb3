import HCIPackets
import Sources

extension HostView.Radio {
  /// Queries the adapter's controller if the adapter is on; sends it scan parameters if requested.
  package static func look(at adapter: Adapter, triesScan: Bool = false) -> HostView.Radio {
    let driver = linkTarget(of: "/sys/class/bluetooth/\(adapter.name)/device/driver")
    var radio = HostView.Radio(
      adapter: adapter, isHeld: HCISystem.host.isHeld(adapter),
      driver: driver?.split(separator: "/").last.map(String.init))
    guard adapter.isUp, !radio.isHeld else { return radio }
    do throws(CommandFailure) {
      let channel = try CommandChannel(adapter: adapter.index)
      radio.report.version = try channel.ask(.readLocalVersion, ControllerVersion.init)
      let commands = try channel.send(HCICommand(.readLocalSupportedCommands))
      radio.report.commands = commands
      guard adapter.supportsLE else { return radio }
      radio.report.features = try channel.ask(.readLocalLEFeatures, LEFeatures.init)
      guard triesScan else { return radio }
      // Parameters alone have no effect: the next scan sets its own. A scan refuses them.
      let slow = ScanParameters(interval: 0x0800, window: 0x0080)
      do throws(CommandFailure) {
        try channel.send(ScanCommandSet(supportedCommands: commands).set(slow))
      } catch {
        radio.scanFailure = error
      }
    } catch {
      radio.report.failure = error
    }
    return radio
  }
}
