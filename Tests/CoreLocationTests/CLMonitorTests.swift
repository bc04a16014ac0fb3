import CoreLocation
import Testing

@Suite struct CLMonitorTests {
  @Test(arguments: [
    CLMonitor.BeaconIdentityCondition(uuid: UUID()), .init(uuid: UUID(), major: 0),
    .init(uuid: UUID(), major: 1, minor: 65535),
  ])
  func `a condition survives its encoding`(condition: CLMonitor.BeaconIdentityCondition) throws {
    let data = try JSONEncoder().encode(condition)
    let read = try JSONDecoder().decode(CLMonitor.BeaconIdentityCondition.self, from: data)
    #expect(read.uuid == condition.uuid)
    #expect(read.major == condition.major && read.minor == condition.minor)
  }

  @Test func `a circle survives its encoding`() throws {
    let circle = CLMonitor.CircularGeographicCondition(
      center: CLLocationCoordinate2D(latitude: 1.5, longitude: -2.5), radius: 30)
    let data = try JSONEncoder().encode(circle)
    let read = try JSONDecoder().decode(CLMonitor.CircularGeographicCondition.self, from: data)
    #expect(read.center.latitude == 1.5 && read.center.longitude == -2.5 && read.radius == 30)
  }
}
