import HCIPackets

extension HostView.Radio {
  /// Returns an adapter with its controller's answers, each after ``CommandChannel/answerLimit`` at
  /// most. Queries the controller only if the adapter is on.
  package static func look(at adapter: Adapter) -> HostView.Radio {
    var radio = HostView.Radio(
      adapter, isHeld: HCISystem.host.isHeld(adapter), driver: adapter.driver)
    if adapter.isUp, !radio.isHeld { radio.report.ask(adapter) }
    return radio
  }
}

extension ControllerReport {
  fileprivate mutating func ask(_ adapter: Adapter) {
    do throws(CommandFailure) {
      let channel = try adapter.channel()
      version = try channel.ask(.readLocalVersion, ControllerVersion.init)
      commands = try channel.send(HCICommand(.readLocalSupportedCommands))
      if adapter.supportsLE {
        features = try channel.ask(.readLocalLEFeatures, LEFeatures.init)
      }
    } catch {
      failure = error
    }
  }
}

extension HostView {
  /// Returns this host's current state. Each controller that does not answer takes some seconds.
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
    // Parameters alone have no effect: the next scan sets its own. They are refused during a scan.
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
