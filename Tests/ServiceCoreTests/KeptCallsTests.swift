import Scanning
import Testing

@testable import Positioning
@testable import ServiceCore

/// What a process knows of registrations while there is no daemon.
@Suite struct KeptCallsTests {
  private let client = ClientIdentifier(rawValue: 1)
  private var kept = KeptCalls()

  init() {
    kept.add(
      KeptCalls.Client(.application, isReceiving: true, pacesRecordings: false), client)
  }

  private func event() throws -> LocationEvent {
    let place = try #require(Coordinate(latitude: 52.5, longitude: 13.4))
    let visit = Visit(place: place, horizontalAccuracy: 10, arrival: nil, departure: nil)
    return .visit(VisitReport(visit, WallClockOffset(nanoseconds: 0)))
  }

  private var hasVisits: Bool {
    guard case .use(let use) = kept.reply(to: .use, of: client) else { return false }
    return use.visits
  }

  /// The calls about visits that a new daemon without data is sent.
  private var repeated: [String] {
    kept.messages(everything: true) { 0 }.map { "\($0)" }.filter { $0.contains("Visits") }
  }

  /// An earlier process has registered them; another one may end them, so they are not repeated.
  @Test mutating func anEventTellsWhatIsRegistered() throws {
    #expect(!hasVisits)
    kept.note(try event(), of: client)
    #expect(hasVisits)
    #expect(repeated == [])
  }

  @Test mutating func anEventThatWasOnItsWayDoesNotUndoAnEnd() throws {
    kept.keep(.startVisits, of: client)
    kept.confirm(through: 1)
    kept.note(try event(), of: client)
    #expect(repeated.count == 1, "what the process itself has registered is repeated")
    kept.keep(.stopVisits, of: client)
    kept.note(try event(), of: client)
    #expect(!hasVisits)
    #expect(repeated.count == 1 && repeated.allSatisfy { $0.contains("stopVisits") })
  }
}
