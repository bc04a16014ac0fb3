import Advertising
import CaptureFiles
import Records
import Scanning

extension ReplayScanner {
  /// Writes remarks on the recordings to standard error: by default only on clocks set back.
  func remark(_ output: OutputOptions) {
    guard !output.quiet else { return }
    if output.verbose { return describe().forEach(printError) }
    for capture in statuses where capture.stepsBack > 0 {
      for remark in capture.remarks { printError("beaconscan: \(capture.name): \(remark)") }
    }
  }

  private func describe() -> [String] {
    var lines = statuses.map { capture in
      let bytes = counted(capture.bytesRead, "byte")
      let head = "\(capture.name): \(capture.formatName ?? "not read"), \(bytes)"
      return ([head] + capture.remarks).joined(separator: "; ")
    }
    let counts = counts
    lines.append(
      "\(counted(counts.packets, "packet")), \(counted(counts.reports, "report")), "
        + counted(counts.sightings, "sighting"))
    let refused = Refusal.allCases.filter { counts[$0] > 0 }.map { "\(counts[$0]) \($0)" }
    if !refused.isEmpty { lines.append("refused: " + refused.joined(separator: ", ")) }
    return lines
  }
}

extension CaptureStatus {
  var remarks: [String] {
    var remarks: [String] = []
    if disordered > 0 {
      let packets = disordered == 1 ? "1 packet stands" : "\(disordered) packets stand"
      remarks.append("\(packets) out of order by up to a second, held at the time before")
    }
    if stepsBack > 0 {
      let times = stepsBack == 1 ? "once" : "\(stepsBack) times"
      remarks.append("the recording's clock was set back \(times); time goes on from there")
    }
    return remarks
  }
}
