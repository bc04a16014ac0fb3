import Adapters
import Positioning
import Scanning
import Synchronization
import TestSupport
import Testing

@testable import LocationSources

/// A source that does as the test says.
final class ScriptedSource: LocationSource {
  let name: String
  let state = Mutex(
    (availability: ScannerAvailability.available, progress: LocationProgress(), isResting: true))
  var isRecorded: Bool { false }
  var availability: ScannerAvailability { state.withLock { $0.availability } }
  var isResting: Bool { state.withLock { $0.isResting } }

  init(_ name: String) { self.name = name }

  func set(_ availability: ScannerAvailability, _ health: LocationHealth.Condition? = nil) {
    state.withLock { state in
      state.availability = availability
      if let health {
        state.progress.health = [
          LocationHealth(health, at: MonotonicTime.now, sentence: "\(name) is \(health)")
        ]
      }
    }
  }

  func receive(
    for demand: LocationDemand, until deadline: MonotonicTime?, into inputs: inout [PositionInput]
  ) throws -> LocationProgress {
    inputs = []
    return state.withLock { state in
      state.isResting = false
      defer { state.progress = LocationProgress() }
      return state.progress
    }
  }

  func wake() {}
  func rest() { state.withLock { $0.isResting = true } }
}

@Suite(.blocking) struct SourceChoiceTests {
  let first = ScriptedSource("gpsd")
  let second = ScriptedSource("GeoClue")
  let fixed: FixedSource
  let client: SourceClient
  let source: AutomaticSource

  init() throws {
    fixed = FixedSource(
      try #require(Coordinate(latitude: 48, longitude: 11)), altitude: 500, accuracy: 3)
    source = AutomaticSource([first, second, fixed])
    client = SourceClient(source)
  }

  @Test func theFirstThatIsAvailableIsUsed() throws {
    #expect(try client.receive { true })
    #expect(source.choice.name == "gpsd")
    #expect(source.choice.sentence == "gpsd is used, which comes first")
    #expect(second.isResting)
  }

  @Test func aFaultLeadsToTheNextOneAtOnce() throws {
    first.set(.unavailable("no gpsd answers"))
    #expect(source.look().sentence == "GeoClue is used, because no gpsd answers")
    #expect(try client.receive { true })
    #expect(source.choice.name == "GeoClue")
    second.set(.notPermitted("GeoClue refuses"), .denied)
    #expect(try client.receive { !client.fixes.isEmpty })
    #expect(second.isResting)
    #expect(
      source.choice.sentence
        == "the configured position is used, because no gpsd answers; GeoClue is denied")
    #expect(source.availability == .available)
    #expect(client.health.map(\.sentence).contains(source.choice.sentence))
  }

  @Test func withoutAnySourceThereIsOneSentence() throws {
    let source = AutomaticSource([first, second])
    let client = SourceClient(source)
    first.set(.unavailable("no gpsd answers"))
    second.set(.unavailable("GeoClue is not installed"))
    source.wake()
    #expect(try client.receive { true })
    source.wake()
    #expect(try client.receive { true })
    #expect(client.conditions == [.notRunning])
    #expect(
      client.health[0].sentence
        == "no location source can be used: no gpsd answers; GeoClue is not installed")
    #expect(source.availability == .unavailable(client.health[0].sentence))
    second.set(.notPermitted("refused"))
    #expect(source.availability == .notPermitted("refused"))
    second.set(.available)
    #expect(try client.receive { source.choice.name == "GeoClue" })
  }

  @Test func aFixedPositionIsOneFixForEachDemand() throws {
    let client = SourceClient(fixed)
    #expect(try client.receive { client.fixes.count == 1 })
    let fix = client.fixes[0]
    #expect(fix.place == Coordinate(latitude: 48, longitude: 11))
    #expect(fix.altitude == 500 && fix.horizontalAccuracy == 3 && fix.speed == 0)
    fixed.wake()
    #expect(try client.receive { true })
    #expect(client.fixes.count == 1)
    client.demand.fixes?.interval = 10
    #expect(try client.receive { client.fixes.count == 2 })
    client.demand.needsHeading = true
    fixed.wake()
    #expect(try client.receive { true })
    #expect(client.fixes.count == 2)
    fixed.rest()
    #expect(try client.receive { client.fixes.count == 3 })
    #expect(client.conditions == [.receiving])
  }
}
