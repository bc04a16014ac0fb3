import AppDaemon
import Testing

@Suite struct AppIdentityTests {
  @Test func aSystemUnitIsKnownBestAndAClaimLeast() {
    typealias Strength = AppIdentity.Strength
    #expect([Strength.systemUnit, .claim, .sandbox].sorted() == [.claim, .sandbox, .systemUnit])
  }
}
