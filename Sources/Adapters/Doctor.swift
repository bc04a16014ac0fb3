/// Finds what stops scanning on a host, and the commands that fix it, in the order in which to run them.
package enum Doctor {
  /// Returns what was found on a host.
  ///
  /// Where several adapters are there, one that works is enough: what the others lack is a warning.
  package static func examine(_ host: HostView) -> [Finding] {
    // Checks after one that failed report nothing that cannot be known.
    var findings = [kernel(host), network(host), kernelVersion(host)].compactMap { $0 }
    findings += adapters(host) + blocks(host) + holders(host) + power(host)
    findings.append(permission(host.rights, host.program, tools: host.tools))
    findings += answers(host) + lowEnergy(host) + scans(host)
    if let service = service(host) { findings.append(service) }
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

  /// Returns what stops scanning and is to be fixed first; `nil` where nothing does.
  package static func obstacle(in findings: [Finding]) -> Finding? {
    findings.first { $0.level == .error }
  }
}
