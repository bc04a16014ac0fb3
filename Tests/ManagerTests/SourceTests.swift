import BeaconTesting
import CaptureFiles
import LiveScanning
import LocationSources
import Logging
import Positioning
import Scanning
import ServiceCore
import TestSupport
import Testing

@testable import CoreLocation

/// Which sources services have, and the end of several.
@Suite struct SourceTests {
  let scratch: Scratch

  init() throws {
    scratch = try Scratch()
    let points = (0..<5).map { second in
      #"<trkpt lat="\#(52.5 + Double(second) / 1e5)" lon="13.4"><time>2026-01-01T00:00:0\#(second)Z</time></trkpt>"#
    }
    let text =
      #"<?xml version="1.0"?><gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>"#
      + points.joined() + "</trkseg></trk></gpx>"
    try text.write(toFile: track, atomically: true, encoding: .utf8)
  }

  private var track: String { scratch["walk.gpx"] }
  private var capture: String { MemberTable.root.appending(path: "captures/visitor.btsnoop").path }

  private func services(_ paths: [String]) -> LocationServices {
    var configuration = LocationServices.Configuration()
    configuration.authorization = Always()
    configuration.delegateQueue = DispatchQueue(label: "delegate")
    configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    var environment = ["BEACONSCAN_SPEED": "max"]
    if !paths.isEmpty { environment["BEACONSCAN_REPLAY"] = paths.joined(separator: ":") }
    return LocationServices(configuration, environment: environment)
  }

  @Test func theEnvironmentNamesCapturesAndTracks() {
    let both = services([capture, track])
    #expect(both.scanner?.isRecorded == true && both.locations.source?.isRecorded == true)
    #expect(both.receivesBeacons && both.findsLocations && both.isEnabled)
    #expect(!both.findsHeadings)
    #expect(both.core.configuration.persistence == .none)
    let tracks = services([track])
    #expect(tracks.scanner == nil && tracks.locations.source is TrackReplay)
    #expect(!tracks.receivesBeacons && tracks.findsLocations && tracks.isEnabled)
    #expect(tracks.core.configuration.persistence == .none)
    let captures = services([capture])
    #expect(captures.scanner is ReplayScanner && captures.locations.source == nil)
    #expect(captures.receivesBeacons && !captures.findsLocations && captures.isEnabled)
    let none = services([])
    #expect(none.scanner is LiveScanner && none.locations.source is CombinedSource)
  }

  @Test func anAppNamesItsSource() throws {
    var configuration = LocationServices.Configuration()
    configuration.persistence = .none
    configuration.locationSource = try .tracks([track])
    let replay = LocationServices(configuration, environment: [:])
    #expect(replay.locations.source is TrackReplay && replay.scanner == nil)
    configuration.locationSource = .fixed(CLLocation(latitude: 52.5, longitude: 13.4))
    let fixed = LocationServices(configuration, environment: [:])
    #expect(fixed.locations.source is FixedSource && fixed.scanner is LiveScanner)
    configuration.locationSource = .automatic(fallback: CLLocation(latitude: 1, longitude: 2))
    let automatic = LocationServices(configuration, environment: [:])
    #expect(automatic.locations.source is CombinedSource)
    #expect(throws: TrackError.self) {
      try LocationServices.PositionSource.tracks(["/nowhere.gpx"])
    }
  }

  @Test(arguments: [["track"], ["capture"], ["capture", "track"]])
  func theEndIsThatOfTheRecordingsInUse(kinds: [String]) async throws {
    let services = services(kinds.map { $0 == "track" ? track : capture })
    let manager = CLLocationManager(services: services)
    let listener = Listener()
    manager.delegate = listener
    defer { withExtendedLifetime(manager) {} }
    if kinds.contains("capture") {
      manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: Scene.lobby))
    } else {
      manager.startUpdatingLocation()
    }
    // Where both are there, the track that nothing uses has no end.
    try await services.ended()
    if !kinds.contains("capture") {
      #expect(listener.all.filter { $0.hasPrefix("fixes") }.count == 5)
    } else {
      #expect(listener.all.contains { $0.hasPrefix("range") })
      guard kinds.count == 2 else { return }
      manager.startUpdatingLocation()
      try await services.ended()
      #expect(listener.all.filter { $0.hasPrefix("fixes") }.count == 5)
    }
  }

  @Test func theStreamOfStatesHasTheSourceOfLocationsAndEndsWithBoth() async throws {
    let source = ScriptedLocations()
    source.report(.noReceiver)
    source.finish(at: 10)
    let scene = Scene { $0.locationSource = .init(source) }
    scene.scanner.report(.scanning, at: 1)
    scene.scanner.finish(at: 5)
    let states = Task {
      var states: [String] = []
      for await health in scene.services.health {
        states.append("\(health.adapter ?? "") \(health.condition)")
      }
      return states
    }
    scene.manager.startUpdatingLocation()
    _ = await scene.told(2)
    scene.manager.startRangingBeacons(satisfying: Scene.visitors)
    scene.scanner.clock.advance(by: 10)
    await eventually { scene.services.beacons.end != nil }
    source.allow(until: 10)
    #expect(Set(await states.value) == ["the script removed", "hci0 scanning"])
  }
}
