package import Sources

/// Checks that find what stops scanning on a host, and the commands that fix it, in order.
package enum Doctor {
  /// Returns the findings on a host. One working adapter and one working backend are enough, so
  /// problems of the others are warnings.
  package static func examine(_ host: HostView) -> [Finding] {
    var host = host
    // A container may not see the kernel's modules.
    if host.bluez?.adapters.isEmpty == false { host.hasBluetooth = true }
    // After a failed check, the checks that depend on it report nothing.
    var findings = [kernel(host), network(host), kernelVersion(host)].compactMap { $0 }
    findings += adapters(host) + blocks(host) + holders(host) + power(host)
    if host.hasRawHCI { findings.append(permission(host)) }
    findings += answers(host) + lowEnergy(host) + scans(host)
    // A container gets the bus more easily, and with fewer rights, than the host's network. It may see
    // nothing of the kernel's Bluetooth.
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

  package static func obstacle(in findings: [Finding]) -> Finding? {
    findings.first { $0.level == .error }
  }
}

extension [Finding] {
  fileprivate mutating func lower(
    _ level: Finding.Level, to lower: Finding.Level, where isMeant: (Finding) -> Bool
  ) {
    for index in indices where self[index].level == level && isMeant(self[index]) {
      self[index].level = lower
    }
  }
}
