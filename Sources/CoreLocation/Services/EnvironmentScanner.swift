import CaptureFiles
import Foundation
import Scanning

/// The scanner that a process's environment names, for apps that name none themselves:
///
/// - `BEACONSCAN_REPLAY`: recordings, separated by colons (btsnoop, pcap or pcapng; `-` is standard input);
/// - `BEACONSCAN_SPEED`: how fast they are replayed: `max`, or a multiple of their own time such as `1x`, which it
///   is by default.
public enum EnvironmentScanner {
  /// Makes the scanner; `nil` where none is named or, which is reported in a sentence, it cannot be opened.
  static func make(
    _ environment: [String: String] = ProcessInfo.processInfo.environment,
    remark: (String) -> Void
  ) -> (any Scanning.Scanner)? {
    guard let names = environment["BEACONSCAN_REPLAY"], !names.isEmpty else { return nil }
    let text = environment["BEACONSCAN_SPEED"] ?? "1x"
    guard let speed = ReplayScanner.Speed(text) else {
      remark("BEACONSCAN_SPEED is '\(text)'; it must be max, or a multiple such as 1x or 10x")
      return nil
    }
    do throws(CaptureError) {
      return try ReplayScanner(paths: names.split(separator: ":").map(String.init), speed: speed)
    } catch {
      remark("\(error)")
      return nil
    }
  }
}
