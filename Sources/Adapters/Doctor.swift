/// What stops scanning on a host, and the commands that mend it, in the order in which to give them.
package enum Doctor {
  /// Each looks at one thing. Those behind one that failed say nothing of what cannot be known.
  static let checks: [@Sendable (HostView) -> [Finding]] = [
    kernel, network, kernelVersion, adapters, blocks, holders, power, permission, answers,
    lowEnergy, scans, service,
  ]

  /// Looks at a host.
  ///
  /// Where several adapters are there, one that works is enough: what the others lack is a warning.
  package static func examine(_ host: HostView) -> [Finding] {
    var findings = checks.flatMap { $0(host) }
    let broken = Set(findings.filter { $0.level == .error }.compactMap(\.adapter))
    guard host.radios.contains(where: { !broken.contains($0.adapter.name) }) else {
      return findings
    }
    for index in findings.indices
    where findings[index].adapter != nil && findings[index].level == .error {
      findings[index].level = .warning
    }
    return findings
  }

  /// What stops scanning; `nil` where nothing does. It is to be mended first.
  package static func obstacle(in findings: [Finding]) -> Finding? {
    findings.first { $0.level == .error }
  }
}
