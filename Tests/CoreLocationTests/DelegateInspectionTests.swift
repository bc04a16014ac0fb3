import Testing

@testable import CoreLocation
@testable import StrangersSwift5

@Suite struct DelegateInspectionTests {
  static func report(_ type: AnyClass) -> [String] {
    var sentences: [String] = []
    DelegateInspection.inspect(type) { sentences.append($0) }
    return sentences
  }

  // An optimized build removes the code of such methods, and with it their names.
  #if DEBUG
    @Test func `a method that is added below the conformance is reported once`() throws {
      let sentence = try #require(Self.report(AddingListener.self).first)
      #expect(sentence.contains("AddingListener inherits its conformance"))
      #expect(sentence.contains("from BaseListener"))
      #expect(sentence.contains("methods locationManager(_:didRange:satisfying:) are never called"))
      #expect(Self.report(AddingListener.self).isEmpty)
    }

    @Test func `methods of several classes are reported together`() throws {
      let sentence = try #require(Self.report(LocationManagerListener.self).first)
      #expect(
        sentence.contains(
          "locationManager(_:didExitRegion:), locationManager(_:didRange:satisfying:) are"))
    }
  #endif

  @Test(
    arguments: [
      BaseListener.self, OverridingListener.self, PlainListener.self, Overriding.self, Both.self,
    ] as [AnyClass])
  func `a method that is called is not reported`(type: AnyClass) {
    #expect(Self.report(type).isEmpty)
  }

  @Test func `an override below the conformance is called, an added method is not`() {
    let delegate: any CLLocationManagerDelegate = AddingListener()
    let (manager, region) = (CLLocationManager(), CLBeaconRegion(uuid: UUID(), identifier: "r"))
    delegate.locationManager(manager, didEnterRegion: region)
    delegate.locationManager(
      manager, didRange: [], satisfying: region.beaconIdentityConstraint)
    #expect((delegate as? AddingListener)?.told == ["entered"])
  }
}
