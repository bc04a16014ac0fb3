import HCIPackets
import Sources

extension HostView.Radio {
  /// Returns an adapter with its controller's answers, each after ``CommandChannel/answerLimit`` at
  /// most. Queries the controller only if the adapter is on.
  package static func look(at adapter: Adapter) -> HostView.Radio {
    let driver = linkTarget(of: "/sys/class/bluetooth/\(adapter.name)/device/driver")
    var radio = HostView.Radio(
      adapter: adapter, isHeld: HCISystem.host.isHeld(adapter),
      driver: driver?.split(separator: "/").last.map(String.init))
    guard adapter.isUp, !radio.isHeld else { return radio }
    do throws(CommandFailure) {
      let channel = try CommandChannel(adapter: adapter.index)
      radio.report.version = try channel.ask(.readLocalVersion, ControllerVersion.init)
      radio.report.commands = try channel.send(HCICommand(.readLocalSupportedCommands))
      if adapter.supportsLE {
        radio.report.features = try channel.ask(.readLocalLEFeatures, LEFeatures.init)
      }
    } catch {
      radio.report.failure = error
    }
    return radio
  }
}

extension HostView {
  static func radio(_ adapter: Adapter, mayScan: Bool) -> Radio {
    var radio = Radio.look(at: adapter)
    guard mayScan, adapter.supportsLE, radio.report.failure == nil,
      let commands = radio.report.commands
    else { return radio }
    // Parameters alone have no effect: the next scan sets its own. They are refused during a scan.
    let slow = ScanParameters(interval: 0x0800, window: 0x0080)
    do throws(CommandFailure) {
      let set = ScanCommandSet(supportedCommands: commands)
      try CommandChannel(adapter: adapter.index).send(set.set(slow))
    } catch {
      radio.scanFailure = error
    }
    return radio
  }
}
