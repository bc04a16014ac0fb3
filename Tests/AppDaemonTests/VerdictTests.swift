import AppDaemon
import Scanning
import ServiceCore
import Testing

@testable import AppDaemon

@Suite struct VerdictTests {
  private typealias Answer = PolkitAuthority.Answer
  private static let time = WallClockTime(nanoseconds: 7)

  /// The administrator's file, polkit's answers to `.use` and `.always`, and the person's decision.
  @Test(
    arguments: [
      (
        AuthorizationRule.granted(.authorizedWhenInUse), PolkitAuthority.Answer?.some(.no), nil,
        .denied,
        AuthorizationRule.granted(.authorizedWhenInUse), Verdict.Origin.administrator
      ),
      (.denied, .yes, .yes, .authorizedAlways, .denied, .administrator),
      (.restricted, nil, nil, nil, .restricted, .administrator),
      (.onRequest, nil, nil, nil, .undecided, .nobody),
      (.onRequest, .challenge, .challenge, nil, .undecided, .nobody),
      (.onRequest, .no, .yes, .authorizedAlways, .restricted, .polkit),
      (.onRequest, .yes, .yes, .denied, .granted(.authorizedAlways), .polkit),
      (.onRequest, .challenge, .yes, nil, .granted(.authorizedAlways), .polkit),
      (.onRequest, .yes, .challenge, nil, .granted(.authorizedWhenInUse), .polkit),
      (.onRequest, .yes, .challenge, .denied, .granted(.authorizedWhenInUse), .polkit),
      (.onRequest, .yes, .challenge, .authorizedAlways, .granted(.authorizedAlways), .person),
      (.onRequest, .yes, .no, .authorizedAlways, .granted(.authorizedWhenInUse), .polkit),
      (.onRequest, .challenge, .no, .authorizedAlways, .granted(.authorizedWhenInUse), .person),
      (.onRequest, .challenge, .no, nil, .undecided, .nobody),
      (.onRequest, nil, nil, .authorizedWhenInUse, .granted(.authorizedWhenInUse), .person),
      (.onRequest, .challenge, .challenge, .denied, .denied, .person),
    ]
      as [(
        AuthorizationRule, PolkitAuthority.Answer?, PolkitAuthority.Answer?, AuthorizationStatus?,
        AuthorizationRule, Verdict.Origin
      )]) func theFirstWhoDecidesCounts(
      file: AuthorizationRule, use: PolkitAuthority.Answer?, always: PolkitAuthority.Answer?,
      decision: AuthorizationStatus?, rule: AuthorizationRule, origin: Verdict.Origin
    )
  {
    let verdict = Verdict(
      file: file, polkit: Verdict.PolkitAnswers(use: use, always: always),
      decision: decision.map { Decision($0, since: Self.time, user: 5) })
    #expect(verdict.rule == rule)
    #expect(verdict.origin == origin)
    #expect(verdict.user == (origin == .person ? 5 : nil))
  }

  @Test func onceIsWhenInUseUnlessADecisionIsStored() {
    let once = Verdict.Once(since: Self.time, user: 5)
    #expect(Verdict(file: .onRequest, once: once).status == .authorizedWhenInUse)
    let denied = Decision(.denied, since: Self.time, user: 5)
    #expect(Verdict(file: .onRequest, decision: denied, once: once).status == .denied)
  }
}
