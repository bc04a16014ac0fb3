import Sources

/// A block of an adapter by rfkill.
package enum RadioBlock: String, Hashable, Sendable {
  /// By software; `rfkill unblock bluetooth` ends it.
  case soft
  /// By a switch or a key of the machine.
  case hard

  package var detail: String? { self == .hard ? "a switch or key of this machine" : nil }

  /// Reads an adapter's rfkill entry in sysfs; returns `nil` if nothing blocks it.
  package init?(adapter index: UInt16, sysfs: String = "/sys/class/bluetooth") {
    let directory = "\(sysfs)/hci\(index)"
    guard let entry = names(in: directory).first(where: { $0.hasPrefix("rfkill") }) else {
      return nil
    }
    let block = [RadioBlock.hard, .soft].first { block in
      firstLine(of: "\(directory)/\(entry)/\(block.rawValue)") == "1"
    }
    guard let block else { return nil }
    self = block
  }
}
