import CaptureFiles
import LocationSources
import Positioning
import Scanning

/// The recordings that the environment names, for an app that names no source itself. They take the
/// place of adapters and location daemons.
///
/// - `BEACONSCAN_REPLAY`: paths, separated by colons, of captures (btsnoop, pcap or pcapng; `-` for
///   standard input) and tracks (NMEA 0183, GPX, gpsd's JSON).
/// - `BEACONSCAN_SPEED`: `max`, or a multiple of the recordings' own time. The default is `1x`.
///
/// Such a replay uses and stores no regions or states of the app, and uses nothing live.
public enum EnvironmentScanner {
  /// The recordings that the environment names; `nil` if it names none.
  struct Recordings {
    private let captures: [String]
    private let tracks: [String]
    private let speed: String

    init?(_ environment: [String: String]) {
      guard let names = environment["BEACONSCAN_REPLAY"], !names.isEmpty else { return nil }
      let paths = names.split(separator: ":").map(String.init)
      // A recording that can be read only once counts as a capture.
      tracks = paths.filter { RecordingFormat.isTrack($0) == true }
      captures = paths.filter { RecordingFormat.isTrack($0) != true }
      speed = environment["BEACONSCAN_SPEED"] ?? "1x"
    }

    /// Opens the captures and tracks that are needed, and reports in a sentence what is not valid.
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
      func open<Recording>(_ paths: [String], _ body: () throws -> Recording) -> Recording? {
        do {
          return paths.isEmpty ? nil : try body()
        } catch {
          remark("\(error)")
          return nil
        }
      }
      return (
        open(captures) { try ReplayScanner(paths: captures, speed: factor) },
        open(tracks) { try TrackReplay(paths: tracks, speed: factor) }
      )
    }
  }
}
