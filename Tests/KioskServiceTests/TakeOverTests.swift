import Regions
import ServiceCore
import Storage
import TestSupport
import Testing

@testable import HTTPServing
@testable import KioskService

@Suite(.timeLimit(.minutes(5))) struct TakeOverTests {
  /// Regions that were removed after they were taken over do not come back with the next start.
  @Test func aFormerDatabaseIsTakenOverOnce() throws {
    let scratch = try Scratch()
    let key = Store.Key(service: "beacons", group: "http", identifier: "old")
    let former = try Store(.file(scratch["former"]))
    try former.writeAndWait([.register(Store.Registration(key: key, definition: [1]))])
    former.close()
    let rules = try RegionRules(exitTimeout: .fixed(seconds: 1))
    var configuration = ServiceConfiguration(
      version: "1", addresses: [], access: AccessRules(),
      regions: RegionConfiguration(regions: [], rules: rules, names: [:]) { _ in rules },
      beacons: BeaconService.Configuration())
    configuration.database = scratch["new"]
    configuration.formerDatabase = scratch["former"]
    try ServiceRun.takeOver(configuration)
    let store = try Store(.file(scratch["new"]), limits: configuration.history)
    #expect(store.registrations.map(\.key) == [key])
    try store.writeAndWait([.remove(key)])
    store.close()
    try ServiceRun.takeOver(configuration)
    let again = try Store(.file(scratch["new"]), limits: configuration.history)
    #expect(again.registrations.isEmpty)
    #expect(scratch.names.contains("former.taken-over"))
  }
}
