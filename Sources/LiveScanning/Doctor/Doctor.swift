package import Sources

/// Finds what stops scanning on a host, and the commands that fix it, in the order in which to run them.
package enum Doctor {
  /// Returns what was found on a host.
  ///
  /// Where several adapters are there, one that works is enough: what the others lack is a warning. So is what one way to
  /// receive lacks, by raw HCI sockets or by bluetoothd, where nothing prevents the other one.
  package static func examine(_ host: HostView) -> [Finding] {
    var host = host
    // A container may not see the kernel's modules.
    if host.bluez?.adapters.isEmpty == false { host.hasBluetooth = true }
    // Checks after one that failed report nothing that cannot be known.
    var findings = [kernel(host), network(host), kernelVersion(host)].compactMap { $0 }
    findings += adapters(host) + blocks(host) + holders(host) + power(host)
    if host.hasRawHCI {
      findings.append(permission(host.rights, host.program, tools: host.tools))
    }
    findings += answers(host) + lowEnergy(host) + scans(host)
    // A container is given the bus more easily, and with fewer rights, than the host's network.
    findings.insert(contentsOf: service(host), at: host.isContainer ? 0 : findings.endIndex)
    findings += monitors(host)
    let broken = Set(findings.filter { $0.level == .error }.compactMap(\.adapter))
    if host.adapters.contains(where: { !broken.contains($0.name) }) {
      findings.lower(.error, to: .warning) { $0.adapter != nil }
    }
    let isRawFree =
      host.hasRawHCI && !findings.contains { $0.level == .error && $0.subject.isOfRawHCI }
    let isBlueZFree =
      host.bluez != nil && !findings.contains { $0.level == .error && $0.subject.isOfBlueZ }
    if isBlueZFree { findings.lower(.error, to: .warning) { $0.subject.isOfRawHCI } }
    if isRawFree {
      findings.lower(.error, to: .warning) { $0.subject.isOfBlueZ }
      findings.lower(.warning, to: .info) { $0.subject == .monitors }
    }
    if let backend = host.backend, obstacle(in: findings) == nil {
      findings.append(Finding(.backend, .info, backend))
    }
    return findings
  }

  /// Returns what stops scanning and is to be fixed first; `nil` where nothing does.
  package static func obstacle(in findings: [Finding]) -> Finding? {
    findings.first { $0.level == .error }
  }
}

extension [Finding] {
  /// Changes the level of some findings.
  fileprivate mutating func lower(
    _ level: Finding.Level, to lower: Finding.Level, where isMeant: (Finding) -> Bool
  ) {
    for index in indices where self[index].level == level && isMeant(self[index]) {
      self[index].level = lower
    }
  }
}
