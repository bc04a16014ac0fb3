import CaptureFiles
import Foundation
import LiveScanning
import Scanning

/// The scanner of apps that name none themselves: the machine's adapters, by `LiveScanner`, unless the process's
/// environment names recordings:
///
/// - `BEACONSCAN_REPLAY`: recordings, separated by colons (btsnoop, pcap or pcapng; `-` is standard input);
/// - `BEACONSCAN_SPEED`: how fast they are replayed: `max`, or a multiple of their own time such as `1x`, which it
///   is by default.
///
/// Such a replay is a trial: it finds no regions or states of the app's, and stores none, so that each replay delivers
/// the same events.
public enum EnvironmentScanner {
  /// Makes the scanner; `nil` where a recording cannot be opened, which is reported in a sentence.
  static func make(
    _ environment: [String: String], remark: (String) -> Void
  ) -> (any Scanning.Scanner)? {
    guard let names = environment["BEACONSCAN_REPLAY"], !names.isEmpty else {
      return LiveScanner()
    }
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
