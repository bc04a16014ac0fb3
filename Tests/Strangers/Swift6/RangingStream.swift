// Ranging as an AsyncStream.
import CoreLocation

struct RangedBeacon: Sendable, Hashable, Identifiable {
  struct ID: Hashable, Sendable {
    let uuid: UUID
    let major: UInt16
    let minor: UInt16
  }
  let id: ID
  let proximity: CLProximity
  let accuracy: CLLocationAccuracy
  let rssi: Int

  init(_ beacon: CLBeacon) {
    id = ID(
      uuid: beacon.uuid, major: beacon.major.uint16Value,
      minor: UInt16(truncating: beacon.minor))
    proximity = beacon.proximity
    accuracy = beacon.accuracy
    rssi = beacon.rssi
  }
}

final class RangingStream: NSObject {
  private let manager: CLLocationManager
  private let continuation: AsyncStream<[RangedBeacon]>.Continuation
  let stream: AsyncStream<[RangedBeacon]>

  init(_ constraint: CLBeaconIdentityConstraint, manager: CLLocationManager = CLLocationManager()) {
    (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.manager = manager
    super.init()
    manager.delegate = self
    manager.startRangingBeacons(satisfying: constraint)
    continuation.onTermination = { @Sendable [manager, constraint] _ in
      manager.stopRangingBeacons(satisfying: constraint)
    }
  }
}

extension RangingStream: CLLocationManagerDelegate {
  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) {
    continuation.yield(beacons.map(RangedBeacon.init))
  }
  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: any Error
  ) {
    continuation.finish()
  }
}

func throwingStream(_ uuid: UUID) -> AsyncThrowingStream<[CLBeacon], any Error> {
  final class Delegate: NSObject, CLLocationManagerDelegate, Sendable {
    let continuation: AsyncThrowingStream<[CLBeacon], any Error>.Continuation
    init(_ continuation: AsyncThrowingStream<[CLBeacon], any Error>.Continuation) {
      self.continuation = continuation
    }
    func locationManager(
      _ manager: CLLocationManager, didRange beacons: [CLBeacon],
      satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
      continuation.yield(beacons)
    }
    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
      continuation.finish(throwing: error)
    }
  }
  return AsyncThrowingStream { continuation in
    let manager = CLLocationManager()
    let delegate = Delegate(continuation)
    manager.delegate = delegate
    manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: uuid))
    continuation.onTermination = { _ in
      manager.delegate = nil
      withExtendedLifetime(delegate) {}
    }
  }
}
