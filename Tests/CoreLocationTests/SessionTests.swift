import AppTestSupport
import Scanning
import ServiceCore
import Testing

@testable import CoreLocation
@testable import StrangersSwift5
@testable import StrangersSwift6

@Suite struct SessionTests {
  /// An administrator with one rule.
  final class Rule: AuthorizationProvider {
    let rule: AuthorizationRule

    init(_ rule: AuthorizationRule) {
      self.rule = rule
    }

    func rule(for application: String, scanner: ScannerAvailability) -> AuthorizationRule { rule }
  }

  static func services(_ rule: AuthorizationRule) -> LocationServices {
    var configuration = LocationServices.Configuration()
    configuration.authorization = Rule(rule)
    configuration.persistence = .none
    return LocationServices.tested(configuration)
  }

  @Test(arguments: [
    (AuthorizationRule.denied, "denied"), (.restricted, "restricted"),
    (.granted(.authorizedAlways), "unavailable"),
  ])
  func `live updates say why there is no location, and go on`(
    rule: AuthorizationRule, problem: String
  ) async throws {
    let (first, continuation) = AsyncStream.makeStream(of: String?.self)
    let task = Task {
      for try await update in CLLocationUpdate.liveUpdates(of: { Self.services(rule) }) {
        #expect(update.location == nil && update.locationUnavailable)
        continuation.yield(LiveLocation.problem(update))
      }
      return Task.isCancelled
    }
    #expect(await first.first { _ in true } == problem)
    task.cancel()
    #expect(try await task.value)
  }

  @Test func `a session requests its authorization and reports the answer`() async throws {
    let session = CLServiceSession(
      authorization: .always, of: Self.services(.granted(.authorizedWhenInUse)))
    for try await diagnostic in session.diagnostics
    where !diagnostic.authorizationRequestInProgress {
      #expect(diagnostic.alwaysAuthorizationDenied && !diagnostic.authorizationDenied)
      break
    }
    let denied = CLServiceSession(authorization: .whenInUse, of: Self.services(.denied))
    #expect(try await watch(denied))
  }

  @Test func `diagnostics end with the session`() async throws {
    let session = CLServiceSession(authorization: .none, of: Self.services(.onRequest))
    var iterator = session.diagnostics.makeAsyncIterator()
    #expect(try await iterator.next()?.authorizationRequestInProgress == false)
    session.invalidate()
    #expect(try await iterator.next() == nil)
    let background = CLBackgroundActivitySession(of: Self.services(.denied))
    try await watchBackground(background)
    background.invalidate()
    for try await _ in background.diagnostics { Issue.record("the session has ended") }
  }

  @Test func `a request for full accuracy is answered in every form`() async {
    let manager = CountedManager()
    #expect(await accuracyRefusal(manager) == .promptDeclined)
    askForAccuracy(manager, NamedManager(name: "x"))
    #expect(InitializedManager().isReady)
  }
}
