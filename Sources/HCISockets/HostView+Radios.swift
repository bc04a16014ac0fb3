package import Adapters
import Bytes
import HCIPackets

extension ControllerReport {
  /// Asks an adapter's controller. It takes ``CommandChannel/answerLimit`` for each question at most.
  package static func ask(_ adapter: Adapter) -> ControllerReport {
    var report = ControllerReport()
    do throws(CommandFailure) {
      let channel = try adapter.channel()
      report.version = try channel.ask(.readLocalVersion) { (bytes) throws(ParseError) in
        try ControllerVersion(bytes)
      }
      report.commands = try channel.send(HCICommand(.readLocalSupportedCommands))
      if adapter.supportsLE {
        report.features = try channel.ask(.readLocalLEFeatures) { (bytes) throws(ParseError) in
          try LEFeatures(bytes)
        }
      }
    } catch {
      report.failure = error
    }
    return report
  }
}

extension HostView.Radio {
  /// Looks at an adapter and, where it is on, asks its controller.
  package static func look(at adapter: Adapter) -> HostView.Radio {
    var radio = HostView.Radio(
      adapter, isHeld: HCISystem.host.isHeld(adapter), driver: adapter.driver)
    if adapter.isUp, !radio.isHeld { radio.report = .ask(adapter) }
    return radio
  }
}

extension HostView {
  /// Returns this host as it is now. Controllers that answer nothing make it take some seconds each.
  package static func current() -> HostView {
    .current { (rights) throws(HCISocketError) in
      try Adapter.all().map { radio($0, mayScan: rights.mayScan) }
    }
  }

  private static func radio(_ adapter: Adapter, mayScan: Bool) -> Radio {
    var radio = Radio.look(at: adapter)
    guard mayScan, adapter.supportsLE, radio.report.failure == nil,
      let commands = radio.report.commands
    else { return radio }
    // Parameters alone do nothing: the next program that scans sets its own. A controller that scans refuses them.
    let slow = ScanParameters(interval: 0x0800, window: 0x0080)
    do throws(CommandFailure) {
      let set = ScanCommandSet(supportedCommands: commands)
      try adapter.channel().send(set.set(slow))
    } catch {
      radio.scanFailure = error
    }
    return radio
  }
}
