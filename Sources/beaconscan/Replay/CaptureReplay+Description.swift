import Advertising
import CaptureFiles
import Scanning

extension CaptureReplay {
  /// What was read and what was refused, for --verbose.
  func describe() -> [String] {
    var lines = statuses.map { capture in
      var line = "\(capture.name): \(capture.formatName ?? "not read"), \(capture.bytesRead) bytes"
      if capture.stepsBack > 0 { line += ", its clock went back \(capture.stepsBack) times" }
      return line
    }
    let counts = counts
    lines.append(
      "\(counts.packets) packets, \(counts.reports) reports, \(counts.sightings) sightings")
    let refused = Refusal.allCases.filter { counts[$0] > 0 }.map { "\(counts[$0]) \($0)" }
    if !refused.isEmpty { lines.append("refused: " + refused.joined(separator: ", ")) }
    return lines
  }
}
