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
    /// The text of the speed.
    private let speed: String

    init?(_ environment: [String: String]) {
      guard let names = environment["BEACONSCAN_REPLAY"], !names.isEmpty else { return nil }
      let paths = names.split(separator: ":").map(String.init)
      // What can be read only once is a capture.
      tracks = paths.filter { RecordingFormat.isTrack($0) == true }
      captures = paths.filter { RecordingFormat.isTrack($0) != true }
      speed = environment["BEACONSCAN_SPEED"] ?? "1x"
    }

    /// Opens the captures and the tracks, as far as they are needed: `nil` where there are none. What cannot be opened, and
    /// a speed that is none, is reported in a sentence.
    func open(
      captures needsCaptures: Bool, tracks needsTracks: Bool, remark: (String) -> Void
    ) -> (scanner: (any Scanning.Scanner)?, source: (any LocationSource)?) {
      let captures = needsCaptures ? captures : []
      let tracks = needsTracks ? tracks : []
      guard !captures.isEmpty || !tracks.isEmpty else { return (nil, nil) }
      guard let factor = ReplayScanner.Speed(speed) else {
        remark("BEACONSCAN_SPEED is '\(speed)'; it must be max, or a multiple such as 1x or 10x")
        return (nil, nil)
      }
      var (scanner, source): ((any Scanning.Scanner)?, (any LocationSource)?)
      do {
        if !captures.isEmpty { scanner = try ReplayScanner(paths: captures, speed: factor) }
      } catch {
        remark("\(error)")
      }
      do {
        if !tracks.isEmpty { source = try TrackReplay(paths: tracks, speed: factor) }
      } catch {
        remark("\(error)")
      }
      return (scanner, source)
    }
  }
}
