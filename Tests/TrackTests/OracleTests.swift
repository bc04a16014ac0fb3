import LocationSources
import Positioning
import Testing

/// Tracks against what gpsd, pynmea2 and gpxpy make of them.
@Suite struct OracleTests {
  /// gpsd has no time for the first fix of two logs, because it takes the date later, and reports nothing of epochs that a log
  /// cuts short. It gives one fix an altitude for which the receiver states a fix in the plane.
  @Test(arguments: [
    ("bt451", 3, 0), ("haicom-305N", 1, 1), ("nmea-fuzzy-cases", 0, 0), ("quectel-eg25-g", 0, 0),
    ("ublox-8", 0, 0),
  ])
  func aLogHasTheEpochsThatGpsdFinds(log: String, more: Int, flat: Int) throws {
    let decoded = Decoded(try Files.bytes("Logs/\(log).log"), .nmea)
    let epochs = try Epoch.all(log)
    #expect(decoded.fixes.count == epochs.count + more, "\(decoded.oddities)")
    // gpsd writes nine digits of degrees, four of meters and three of meters per second.
    try compare(decoded, epochs, degrees: 1.1e-9, meters: 1e-4, speed: 0.000_51, flat: flat)
  }

  @Test(arguments: ["bt451", "nmea-fuzzy-cases"])
  func aLogOfGpsdHasItsReports(log: String) throws {
    let decoded = Decoded(try Files.bytes("Logs/\(log).log.chk"), .gpsdJSON)
    let epochs = try Epoch.all(log)
    #expect(decoded.fixes.count == epochs.count, "\(decoded.oddities)")
    try compare(decoded, epochs, degrees: 0, meters: 0, speed: 0)
  }

  @Test func aDriveWrittenByPynmea2IsReadAsItWas() throws {
    let decoded = Decoded(try Files.bytes("Vectors/drive.nmea"), .nmea)
    let epochs = try Epoch.all("drive-nmea")
    #expect(decoded.fixes.count == 120 && decoded.oddities == [:])
    // Six digits of minutes, two of meters, three of knots.
    try compare(decoded, epochs, degrees: 1e-8, meters: 0.0051, speed: 0.000_26, course: 0.0051)
  }

  @Test func aDriveWrittenByGpxpyIsReadAsItReadsIt() throws {
    let decoded = Decoded(try Files.bytes("Vectors/drive.gpx"), .gpx)
    let epochs = try Epoch.all("drive-gpx")
    #expect(decoded.fixes.count == 60 && decoded.oddities == [.notRecorded: 2])
    #expect(decoded.isComplete && decoded.fault == nil)
    try compare(decoded, epochs, degrees: 1e-13, meters: 0, speed: 0)
  }

  private func compare(
    _ decoded: Decoded, _ epochs: [Epoch], degrees: Double, meters: Double, speed: Double,
    course: Double = 1e-4, flat: Int = 0
  ) throws {
    var withoutAltitude = 0
    let fixes = Dictionary(zip(decoded.times, decoded.fixes)) { first, _ in first }
    func isNear(_ own: Double?, _ other: Double?, _ bound: Double) -> Bool {
      guard let own, let other else { return own == nil && other == nil }
      return abs(own - other) <= bound
    }
    for epoch in epochs {
      let fix = try #require(fixes[epoch.time], "\(epoch.time)")
      #expect(abs(fix.place.latitude - epoch.latitude) <= degrees, "\(epoch.time)")
      let turn = (fix.place.longitude - epoch.longitude).remainder(dividingBy: 360)
      #expect(abs(turn) <= degrees, "\(epoch.time)")
      if fix.altitude == nil, epoch.altitude != nil {
        withoutAltitude += 1
      } else {
        #expect(isNear(fix.altitude, epoch.altitude, meters), "\(epoch.time)")
        #expect(isNear(fix.ellipsoidalAltitude, epoch.ellipsoidalAltitude, meters), "\(epoch.time)")
      }
      #expect(isNear(fix.speed, epoch.speed, speed), "\(epoch.time)")
      // At rest there is none.
      if let own = fix.course {
        #expect(isNear(own, epoch.course, course), "\(epoch.time)")
      }
    }
    #expect(withoutAltitude == flat)
  }
}
