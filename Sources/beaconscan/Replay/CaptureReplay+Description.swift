import Advertising
import CaptureFiles
import Scanning

extension CaptureReplay {
  /// What was read and what was refused, for --verbose.
  func describe() -> [String] {
    var lines = readers.map { reader in
      var line = "\(reader.name): \(reader.formatName ?? "not read"), \(reader.bytesRead) bytes"
      if reader.stepsBack > 0 { line += ", its clock went back \(reader.stepsBack) times" }
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
