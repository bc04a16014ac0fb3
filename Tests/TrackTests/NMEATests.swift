import LocationSources
import Positioning
import Scanning
import Testing

/// NMEA 0183.
@Suite struct NMEATests {
  @Test func theSentencesOfAnEpochAreOneFix() throws {
    let decoded = Decoded(
      gga("120000.00") + sentence("GPGSA,A,3,01,02,03,04,,,,,,,,,2.0,1.0,1.5")
        + sentence("GPGST,120000.00,5.0,4.0,3.0,45.0,3.0,4.0,6.0") + rmc("120000.00")
        + sentence("GPVTG,10.0,T,,M,99.0,N,183.3,K,A") + gga("120001.00") + rmc("120001.00"), .nmea)
    #expect(decoded.times == ["2024-02-01T12:00:00.000Z", "2024-02-01T12:00:01.000Z"])
    let first = try #require(decoded.fixes.first)
    // The mean deviation of 3 and 4 m, times the 68 % radius of a circular normal distribution.
    #expect(abs(first.horizontalAccuracy - 3.535_534 * 1.509_592) < 1e-5)
    #expect(first.altitude == 500 && first.ellipsoidalAltitude == 547)
    #expect(first.verticalAccuracy == 6)
    #expect(abs((first.speed ?? 0) - 5 * 1852 / 3600) < 1e-12 && first.course == 90)
    // An HDOP of 1: 15 m of 95 %.
    #expect(abs(decoded.fixes[1].horizontalAccuracy - 9.2509) < 1e-3)
    #expect(decoded.oddities == [:])
  }

  @Test(arguments: [
    rmc("120000.00", status: "V"), gga("120000.00", quality: 0) + rmc("120000.00"),
    sentence("GPRMC,120000,A,4810.0,N,01120.0,E,1.0,2.0,010224,,,N"),
    sentence("GNGNS,120000,4810.0,N,01120.0,E,NN,00,1.0,1,1,,") + rmc("120000"),
    sentence("GPGLL,4810.0,N,01120.0,E,120000,V,N") + rmc("120000"),
  ])
  func aReceiverWithoutAFixGivesNone(track: String) {
    let decoded = Decoded(track + rmc("120001"), .nmea)
    #expect(decoded.times == ["2024-02-01T12:00:01.000Z"])
    #expect(decoded.oddities == [.noFix: 1])
  }

  /// Receivers write numbers that cannot be where they know none. The place counts, and what can be.
  @Test(arguments: ["-1", "nan", "fast", "99999"], ["999.9", "x", "181"])
  func anOddFieldIsLostAlone(knots: String, variation: String) throws {
    let decoded = Decoded(
      sentence("GPRMC,120000,A,4810.0,N,01120.0,E,\(knots),90.0,010224,\(variation),E,A")
        + sentence("GPRMC,120001,A,4810.0,N,01120.0,E,10.0,nan,010224,,,A"), .nmea)
    #expect(decoded.times == ["2024-02-01T12:00:00.000Z", "2024-02-01T12:00:01.000Z"])
    #expect(decoded.fixes.map(\.place.latitude).allSatisfy { abs($0 - 48.166_666) < 1e-5 })
    #expect(decoded.fixes.map { $0.speed == nil } == [true, false])
    #expect(decoded.fixes.map(\.course).last == .some(nil))
    #expect(decoded.oddities == [:])
  }

  @Test func anOddDilutionIsLostAlone() throws {
    let decoded = Decoded(
      sentence("GPGGA,120000,4810.0,N,01120.0,E,1,08,nan,500.0,M,,M,,")
        + sentence("GPGSA,A,3,01,,,,,,,,,,,,nan,-1,x") + rmc("120000"), .nmea)
    #expect(decoded.fixes.map(\.altitude) == [500])
    #expect(decoded.fixes.map(\.horizontalAccuracy) == [50])
    #expect(decoded.oddities == [:])
  }

  /// Dead reckoning needs no satellites, and a receiver that knows the dilution of its first fix has some.
  @Test(arguments: [(1, "", 0), (2, "99.99", 0), (6, "", 1), (1, "17.0", 1)])
  func aFixOfNoSatellitesIsNone(quality: Int, dilution: String, fixes: Int) {
    let decoded = Decoded(
      sentence("GPGGA,120000,4810.0,N,01120.0,E,\(quality),00,\(dilution),500.0,M,47.0,M,,")
        + rmc("120000"), .nmea)
    #expect(decoded.fixes.count == fixes)
  }

  @Test func theAccuracyHoldsForTenSeconds() {
    let decoded = Decoded(gga("120000.00") + rmc("120001") + rmc("120010") + rmc("120011"), .nmea)
    #expect(decoded.fixes.map { $0.horizontalAccuracy < 10 } == [true, true, true, false])
  }

  /// A receiver that knows no time yet has no fix; the next epoch has one.
  @Test func theFirstFixAfterASentenceWithoutATimeIsDelivered() {
    let decoded = Decoded(
      sentence("GPGLL,,,,,,V,N") + rmc("120000") + rmc("120001"), .nmea)
    #expect(decoded.times == ["2024-02-01T12:00:00.000Z", "2024-02-01T12:00:01.000Z"])
  }

  @Test func sentencesWithoutAnyValueAreNotWrong() {
    let decoded = Decoded(
      rmc("120000") + sentence("GPVTG,,T,,M,,N,,K,N") + sentence("GPHDT,,T")
        + sentence("HCHDG,,,,,") + rmc("120001"), .nmea)
    #expect(decoded.fixes.count == 2)
    #expect(decoded.oddities == [:])
  }

  @Test func thereIsNoCourseAtRest() {
    let decoded = Decoded(rmc("120000", knots: "0.5") + rmc("120001", knots: "0.6"), .nmea)
    #expect(decoded.fixes.map(\.course) == [nil, 90])
  }

  @Test func aFixBeforeTheFirstDateIsDatedBack() {
    let decoded = Decoded(
      gga("235958.00") + gga("235959.00") + gga("000000.00") + rmc("000001.00", "010324"), .nmea)
    #expect(
      decoded.times == [
        "2024-02-29T23:59:58.000Z", "2024-02-29T23:59:59.000Z", "2024-03-01T00:00:00.000Z",
        "2024-03-01T00:00:01.000Z",
      ])
    #expect(decoded.oddities == [:])
  }

  @Test func aTrackWithoutADateBeginsIn1970() {
    let decoded = Decoded(gga("235959.00") + gga("000000.50"), .nmea)
    #expect(decoded.times == ["1970-01-01T23:59:59.000Z", "1970-01-02T00:00:00.500Z"])
    #expect(decoded.oddities == [.undated: 2])
  }

  @Test func aDateThatComesLateDoesNotStopTheTime() {
    var track = ""
    for second in 0..<700 {
      track += gga(clock(second))
    }
    let decoded = Decoded(track + rmc(clock(700)), .nmea)
    #expect(decoded.fixes.count == 701 && decoded.oddities == [.undated: 700])
    #expect(decoded.times.last == "2024-02-01T00:11:40.000Z")
    #expect(decoded.fixes[700].time == decoded.fixes[699].time)
  }

  private func clock(_ second: Int) -> String {
    let text = String(second / 3600 * 10000 + second / 60 % 60 * 100 + second % 60)
    return String(repeating: "0", count: 6 - text.count) + text
  }

  @Test func aDateThatChangesTooLateIsCorrected() {
    let decoded = Decoded(
      rmc("235959", "310124") + rmc("000000", "310124") + rmc("000001", "310124")
        + rmc("000002", "010224"), .nmea)
    #expect(
      decoded.times == [
        "2024-01-31T23:59:59.000Z", "2024-02-01T00:00:00.000Z", "2024-02-01T00:00:01.000Z",
        "2024-02-01T00:00:02.000Z",
      ])
    #expect(decoded.oddities == [.lateDate: 2])
  }

  /// 2019-04-06 is 1024 weeks behind 1999-08-21.
  @Test func aWeekNumberThatRollsOverIsCorrected() {
    let back = Decoded(
      rmc("235958", "060419") + rmc("235959", "060419") + rmc("000000", "220899")
        + rmc("000001", "220899"), .nmea)
    #expect(
      back.times == [
        "2019-04-06T23:59:58.000Z", "2019-04-06T23:59:59.000Z", "2019-04-07T00:00:00.000Z",
        "2019-04-07T00:00:01.000Z",
      ])
    #expect(back.oddities == [.weekRollover: 1])
  }

  @Test func aReceiverThatLearnsItsEraDoesNotStopTheTime() {
    let decoded = Decoded(
      rmc("120000", "210899") + rmc("120001", "060419") + rmc("120002", "060419"), .nmea)
    #expect(decoded.times[1] == "2019-04-06T12:00:01.000Z")
    #expect(decoded.fixes[2].time.seconds(since: decoded.fixes[0].time) == 2)
    #expect(decoded.oddities == [.weekRollover: 1])
  }

  @Test func aClockThatIsSetBackGoesOn() {
    let decoded = Decoded(
      rmc("120018") + rmc("120019") + rmc("120002") + rmc("120003") + rmc("120002.5")
        + rmc("120004"),
      .nmea)
    #expect(decoded.oddities == [.stepBack: 1, .disordered: 1])
    let start = decoded.fixes[0].time
    #expect(decoded.fixes.map { $0.time.seconds(since: start) } == [0, 1, 1, 2, 2, 3])
  }

  @Test func timesThatAreRoundedInSomeSentencesAreOneEpoch() {
    let decoded = Decoded(
      sentence("GPGLL,4810.0,N,01120.0,E,120824.758,A") + gga("120824.76") + rmc("120824.76")
        + sentence("GPGLL,4810.0,N,01120.0,E,120824.770,A") + gga("120824.77") + rmc("120824.77"),
      .nmea)
    #expect(decoded.times == ["2024-02-01T12:08:24.760Z", "2024-02-01T12:08:24.770Z"])
    #expect(decoded.fixes.map(\.altitude) == [500, 500] && decoded.oddities == [:])
  }

  @Test func aDateThatJumpsIsCounted() {
    let decoded = Decoded(
      rmc("120000", "010224") + rmc("120001", "010224") + rmc("120002", "050124")
        + rmc("120003", "050124") + rmc("120004", "050154") + rmc("120005", "060154")
        + rmc("120006", "070154"), .nmea)
    #expect(decoded.counts[.dateJump] == 2 && decoded.counts[.stepBack] == 1)
    #expect(decoded.fixes.count == 7 && decoded.counts[.weekRollover] == 0)
  }

  @Test(arguments: [
    [
      "GPZDA,235959.00,31,01,2024,00,00",
      "GPGGA,235959.00,4810.0,N,01120.0,E,1,08,1.0,500.0,M,47.0,M,,",
    ],
    [
      "GPGGA,235959.00,4810.0,N,01120.0,E,1,08,1.0,500.0,M,47.0,M,,",
      "GPZDA,235959.00,31,01,2024,00,00",
    ],
    [
      "GPZDA,235959.80,31,01,2024,00,00",
      "GPGGA,235959.00,4810.0,N,01120.0,E,1,08,1.0,500.0,M,47.0,M,,",
    ],
    [
      "GPZDA,000000.00,01,02,2024,00,00",
      "GPGGA,235959.00,4810.0,N,01120.0,E,1,08,1.0,500.0,M,47.0,M,,",
    ],
  ])
  func theDateOfZDAIsThatOfTheEpochBesideIt(bodies: [String]) {
    let decoded = Decoded(
      bodies.map(sentence).joined() + gga("000001.00") + gga("000002.00"), .nmea)
    #expect(
      decoded.times == [
        "2024-01-31T23:59:59.000Z", "2024-02-01T00:00:01.000Z", "2024-02-01T00:00:02.000Z",
      ])
    #expect(decoded.oddities == [:])
  }

  /// Dilutions beyond any that is known, the status of a differential fix, and zeros for a date without a fix.
  @Test func whatReceiversWriteBesideTheStandardIsRead() {
    let decoded = Decoded(
      sentence("GPRMC,115959,V,,,,,,,000000,,,N")
        + sentence("GPGGA,120000,4810.0,N,01120.0,E,1,03,999.9,500.0,M,47.0,M,,")
        + sentence("GPGSA,A,3,01,02,03,,,,,,,,,,999.9,999.9,999.9")
        + rmc("120000", status: "D") + "2024-02-01T12:00:01.100 " + rmc("120001")
        + "1706788802.000000: " + rmc("120002")
        + "!AIVDM,1,1,,A,15N:;R0P00PD;88MD5MTDwwP0<0L,0*3D\r\n"
        + "\\s:r1,c:1706788803*4F\\" + rmc("120003"), .nmea)
    #expect(decoded.fixes.count == 4 && decoded.oddities == [.noFix: 1])
    #expect(decoded.fixes.first?.horizontalAccuracy == 50)
  }

  @Test func aLeapSecondIsTheNextMinute() {
    let decoded = Decoded(
      rmc("235959", "311216") + rmc("235960", "311216") + rmc("000000", "010117")
        + rmc("000001", "010117"), .nmea)
    #expect(decoded.times.last == "2017-01-01T00:00:01.000Z" && decoded.fixes.count == 3)
    #expect(decoded.oddities == [.duplicate: 1])
  }

  @Test func repeatedFixesGapsAndJumpsAreCounted() {
    let decoded = Decoded(
      rmc("120000") + rmc("120000") + rmc("120001") + rmc("120030")
        + rmc("120031", minutes: "20.0000"), .nmea)
    #expect(decoded.fixes.count == 4)
    #expect(decoded.oddities == [.duplicate: 1, .gap: 1, .jump: 1])
  }

  @Test(arguments: [
    ("$GPRMC,120000,A,4810.0,N,01120.0,E,1.0,2.0,010224,,,A*00\r\n", TrackOddity.badChecksum),
    ("$GPRMC,120000,A,4810.0,N,01120.0,E,1.0,2.0,010224,,,A\r\n", .missingChecksum),
    (sentence("GPRMC,120000,A,4860.0,N,01120.0,E,1.0,2.0,010224,,,A"), .malformed),
    (sentence("GPRMC,120000,A,9010.0,N,01120.0,E,1.0,2.0,010224,,,A"), .malformed),
    (sentence("GPRMC,120000,A,4810.0,N,18120.0,E,1.0,2.0,010224,,,A"), .malformed),
    (sentence("GPRMC,120000,A,4810.0,N,01120.0,E,1.0,2.0,300224,,,A"), .malformed),
    (sentence("GPRMC,240000,A,4810.0,N,01120.0,E,1.0,2.0,010224,,,A"), .malformed),
    (sentence("GPRMC,120000,A,4810.0,X,01120.0,E,1.0,2.0,010224,,,A"), .malformed),
    ("$GPRMC,120000,A,48$", .malformed),
    ("$GPGGA," + String(repeating: "1", count: 300) + "\r\n", .tooLong),
  ])
  func aWrongSentenceIsCountedAndTheNextIsRead(wrong: String, oddity: TrackOddity) {
    let decoded = Decoded(rmc("115959") + wrong + rmc("120001") + rmc("120002"), .nmea)
    #expect(decoded.fixes.count == 3)
    #expect(decoded.counts[oddity] >= 1, "\(decoded.oddities)")
  }

  @Test(arguments: ["\r\n", "\n", "\r", "", "\n\r\n"])
  func anyLineEndWillDo(end: String) {
    let track = (0..<5).map { rmc("12000\($0)").replacing("\r\n", with: end) }.joined()
    #expect(Decoded(track, .nmea).fixes.count == 5)
  }

  @Test func aTrackWithoutChecksumsIsRead() {
    let track = (0..<5).map { rmc("12000\($0)").dropLast(5) + "\r\n" }.joined()
    #expect(Decoded(track, .nmea).fixes.count == 5)
  }

  @Test func binaryPacketsArePassedOver() {
    let ubx: [UInt8] = [0xB5, 0x62, 0x01, 0x07, 0x04, 0x00, 0x24, 0x47, 0x50, 0xFF, 0x12, 0x34]
    let sirf: [UInt8] = [0xA0, 0xA2, 0x00, 0x02, 0x0A, 0x24, 0x00, 0x2E, 0xB0, 0xB3]
    var bytes: [UInt8] = []
    for second in 0..<5 {
      bytes += ubx + Array(rmc("12000\(second)").utf8) + sirf
    }
    let decoded = Decoded(bytes, .nmea)
    #expect(decoded.fixes.count == 5 && decoded.counts.foreignBytes == 105)
    #expect(decoded.oddities == [:])
  }

  @Test func headingsAreCompassReadings() throws {
    let decoded = Decoded(
      rmc("120000") + sentence("HCHDG,101.1,1.1,W,7.1,E") + rmc("120001")
        + sentence("HEHDT,5.0,T") + rmc("120002") + sentence("HCHDM,238.0,M"), .nmea)
    #expect(decoded.readings.count == 3)
    #expect(abs(decoded.readings[0].magneticHeading - 100) < 1e-9)
    #expect(abs(decoded.readings[1].magneticHeading - 357.9) < 1e-9)
    #expect(decoded.readings[2].magneticHeading == 238)
    #expect(decoded.readings[2].time == decoded.fixes[2].time)
    #expect(
      Decoded(rmc("120000") + sentence("HEHDT,5.0,T"), .nmea).oddities == [.unknownDeclination: 1])
  }

  @Test func proprietarySentencesAreNotRead() {
    let decoded = Decoded(
      rmc("120000")
        + sentence(
          "PUBX,00,120000.00,4717.1,N,00833.9,E,546.5,G3,2.1,2.0,0.0,77.5,0.0,,0.9,1.1,0.7,9,0,0")
        + rmc("120001"), .nmea)
    #expect(decoded.fixes.count == 2 && decoded.counts.records == 3 && decoded.oddities == [:])
  }
}
