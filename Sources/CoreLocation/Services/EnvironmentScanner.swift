import CaptureFiles
import Foundation
import LocationSources
import Positioning
import Scanning

/// The recordings in place of adapters and location daemons, for apps that name no source themselves, where the process's
/// environment names some:
///
/// - `BEACONSCAN_REPLAY`: recordings, separated by colons: of adverts (btsnoop, pcap or pcapng; `-` is standard input) and
///   tracks (NMEA 0183, GPX, gpsd's JSON);
/// - `BEACONSCAN_SPEED`: how fast they are replayed: `max`, or a multiple of their own time such as `1x`, which it
///   is by default.
///
/// Such a replay is a trial: it finds no regions or states of the app's, and stores none, so that each replay delivers
/// the same events. Nothing live takes part in it: without a track, no locations are found.
public enum EnvironmentScanner {
  /// What the environment names; `nil` where it names nothing.
  struct Recordings {
    private let captures: [String]
    private let tracks: [String]
    /// `nil` where the environment names a speed that is none.
    private let speed: ReplayScanner.Speed?

    init?(_ environment: [String: String], remark: (String) -> Void) {
      guard let names = environment["BEACONSCAN_REPLAY"], !names.isEmpty else { return nil }
      let paths = names.split(separator: ":").map(String.init)
      // What can be read only once is a capture.
      tracks = paths.filter { RecordingFormat.isTrack($0) == true }
      captures = paths.filter { RecordingFormat.isTrack($0) != true }
      let text = environment["BEACONSCAN_SPEED"] ?? "1x"
      speed = ReplayScanner.Speed(text)
      if speed == nil {
        remark("BEACONSCAN_SPEED is '\(text)'; it must be max, or a multiple such as 1x or 10x")
      }
    }

    /// Opens the captures; `nil` where there are none or one cannot be opened, which is reported in a sentence.
    func scanner(remark: (String) -> Void) -> (any Scanning.Scanner)? {
      guard let speed, !captures.isEmpty else { return nil }
      do throws(CaptureError) {
        return try ReplayScanner(paths: captures, speed: speed)
      } catch {
        remark("\(error)")
        return nil
      }
    }

    /// Opens the tracks; `nil` where there are none or one cannot be opened, which is reported in a sentence.
    func locationSource(remark: (String) -> Void) -> (any LocationSource)? {
      guard let speed, !tracks.isEmpty else { return nil }
      do throws(TrackError) {
        return try TrackReplay(paths: tracks, speed: speed)
      } catch {
        remark("\(error)")
        return nil
      }
    }
  }
}
