import Foundation
import Scanning
import Testing

@testable import Positioning

@Suite struct MagneticModelTests {
  /// A row of WMM2025_TestValues.txt, which NCEI publishes with the coefficients (rounded to 0.01° and 0.1 nT).
  struct Row: Sendable, CustomStringConvertible {
    var year, kilometers, latitude, longitude: Double
    var values: [Double]
    var description: String { "\(year) \(kilometers) km \(latitude) \(longitude)" }

    init(_ line: Substring) {
      let numbers = line.split(separator: " ").compactMap { Double($0) }
      (year, kilometers, latitude, longitude) = (numbers[0], numbers[1], numbers[2], numbers[3])
      values = Array(numbers[4...])
    }

    var field: MagneticField? {
      Coordinate(latitude: latitude, longitude: longitude).map {
        MagneticModel.field(at: $0, height: 1000 * kilometers, year: year)
      }
    }
  }

  // Year, height in km, latitude, longitude; declination, inclination, H, F.
  static let rows = """
    2025.0 28 89 -121 -99.77 88.47 1504.3 56214.4
    2025.0 48 80 -96 -29.91 87.77 2164.3 55665.1
    2025.0 54 82 87 54.89 87.68 2302.4 56787.5
    2025.0 65 43 93 0.50 64.10 24300.8 55626.6
    2025.0 51 -33 109 -5.49 -67.50 21838.0 57054.8
    2025.0 39 -59 -8 -15.75 -58.55 14918.1 28589.8
    2025.0 3 -50 -103 27.96 -54.89 22106.0 38431.7
    2025.0 94 -29 -110 15.74 -38.25 24182.0 30792.7
    2025.0 66 14 143 -0.19 12.82 35003.6 35898.7
    2025.0 18 0 21 1.29 -26.06 29282.2 32594.8
    2025.5 6 -36 -137 20.28 -52.11 25353.2 41280.5
    2025.5 63 26 81 0.51 41.07 34804.0 46166.6
    2025.5 69 38 -144 12.93 56.97 23096.3 42373.8
    2025.5 50 -70 -133 57.21 -71.94 16656.7 53731.8
    2025.5 8 -52 -75 14.91 -49.63 20005.5 30887.0
    2025.5 8 -66 17 -33.14 -59.55 18154.9 35822.4
    2025.5 22 -37 140 9.28 -68.62 21688.8 59492.0
    2025.5 40 -12 -129 10.76 -15.46 29105.9 30199.2
    2025.5 44 33 -118 11.10 57.89 23678.7 44542.8
    2025.5 50 -81 -67 28.13 -67.61 18292.8 48032.1
    2026.0 74 -57 3 -22.51 -58.65 14362.2 27606.2
    2026.0 46 -24 -122 14.01 -34.17 26638.5 32194.9
    2026.0 69 23 63 1.17 35.92 34565.9 42684.5
    2026.0 33 -3 -147 9.71 -2.12 30957.7 30978.9
    2026.0 47 -72 -22 -6.32 -61.16 18392.5 38127.1
    2026.0 62 -14 99 -1.43 -44.70 33448.3 47058.0
    2026.0 83 86 -46 -30.61 86.84 3000.3 54362.2
    2026.0 82 -64 87 -81.74 -75.40 13974.2 55453.2
    2026.0 34 -19 43 -14.98 -52.33 20212.4 33077.0
    2026.0 56 -81 40 -59.77 -68.45 17877.8 48670.3
    2026.5 14 0 80 -3.10 -17.15 39489.1 41327.4
    2026.5 12 -82 -68 29.79 -68.07 18497.5 49524.3
    2026.5 44 -46 -42 -11.36 -54.39 14140.3 24285.5
    2026.5 43 17 52 1.19 23.95 36002.7 39394.2
    2026.5 64 10 78 -1.53 7.53 39441.7 39784.9
    2026.5 12 33 -145 11.96 52.51 24672.3 40536.1
    2026.5 12 -79 115 -137.58 -77.37 13023.5 59546.0
    2026.5 14 -33 -114 18.12 -44.10 24613.2 34275.9
    2026.5 19 29 66 2.24 46.04 32750.0 47177.7
    2026.5 86 -11 167 10.24 -31.60 33105.3 38869.3
    2027.0 37 -66 -5 -17.22 -59.04 17159.8 33360.0
    2027.0 67 72 -115 13.73 84.84 5026.9 55916.0
    2027.0 44 22 174 6.46 31.89 28867.5 33999.1
    2027.0 54 54 178 0.63 65.46 20617.1 49634.2
    2027.0 57 -43 50 -48.27 -63.13 16833.4 37242.8
    2027.0 44 -43 -111 24.31 -52.57 22462.5 36957.3
    2027.0 12 -63 178 57.87 -79.14 11720.7 62190.2
    2027.0 38 27 -169 8.48 42.66 26106.8 35501.7
    2027.0 61 59 -77 -16.48 78.68 10884.8 55476.0
    2027.0 67 -47 -32 -13.52 -57.98 12805.8 24150.1
    2027.5 8 62 53 19.39 76.67 12997.8 56368.8
    2027.5 77 -68 -7 -16.19 -59.82 17262.8 34335.6
    2027.5 98 -5 159 7.79 -23.22 33857.5 36841.9
    2027.5 34 -29 -107 15.64 -37.45 24446.1 30792.3
    2027.5 60 27 65 1.85 42.83 33079.4 45108.1
    2027.5 73 -72 95 -102.64 -76.49 13306.7 56974.9
    2027.5 96 -46 -85 17.93 -47.37 19914.5 29402.5
    2027.5 0 -13 -59 -17.49 -15.26 22401.5 23220.4
    2027.5 16 66 -178 0.37 75.67 13821.6 55830.6
    2027.5 72 -87 38 -65.44 -70.97 16661.7 51088.9
    2028.0 49 20 167 5.10 26.82 30251.3 33898.3
    2028.0 71 5 -13 -6.47 -17.66 28323.2 29724.2
    2028.0 95 14 65 -0.51 17.44 36933.9 38713.1
    2028.0 86 -85 -79 41.09 -70.25 16867.5 49924.0
    2028.0 30 -36 -64 -4.65 -40.08 17398.7 22738.6
    2028.0 75 79 125 -18.59 87.42 2582.3 57366.9
    2028.0 21 6 -32 -14.34 -8.70 28453.1 28784.0
    2028.0 1 -76 -75 29.87 -65.23 19597.6 46782.5
    2028.0 45 -46 -41 -11.68 -54.96 13897.6 24203.8
    2028.0 11 -22 -21 -23.24 -57.67 13528.3 25295.4
    2028.5 28 54 -120 15.43 73.74 15286.1 54578.0
    2028.5 68 -58 156 41.57 -81.52 9282.9 62952.6
    2028.5 39 -65 -88 29.45 -60.20 20609.3 41467.0
    2028.5 27 -23 81 -13.27 -58.58 25625.3 49156.4
    2028.5 11 34 0 1.57 46.77 29089.2 42471.3
    2028.5 72 -62 65 -67.87 -68.50 17434.8 47577.0
    2028.5 55 86 70 67.64 87.57 2370.4 55976.4
    2028.5 59 32 163 0.15 43.10 28217.2 38645.6
    2028.5 65 48 148 -9.55 61.79 23693.5 50130.2
    2028.5 95 30 28 4.56 44.27 29786.4 41599.8
    2029.0 95 -60 -59 8.58 -55.17 18095.6 31687.0
    2029.0 95 -70 42 -55.06 -64.54 18202.7 42348.7
    2029.0 50 87 -154 -73.48 89.07 906.9 55999.7
    2029.0 58 32 19 4.11 46.03 29435.0 42393.2
    2029.0 57 34 -13 -1.89 45.74 28257.3 40488.6
    2029.0 38 -76 49 -64.28 -67.36 18412.6 47836.8
    2029.0 49 -50 -179 32.11 -71.33 18080.6 56494.1
    2029.0 90 -55 -171 38.65 -72.79 16416.5 55479.6
    2029.0 41 42 -19 -4.13 56.44 24503.5 44319.7
    2029.0 19 46 -22 -5.65 60.89 22632.0 46527.1
    2029.5 31 13 -132 9.04 31.41 28145.0 32978.3
    2029.5 93 -2 158 7.09 -17.84 34067.3 35788.3
    2029.5 51 -76 40 -56.34 -66.22 18517.4 45917.9
    2029.5 64 22 -132 10.23 43.76 26014.8 36020.8
    2029.5 26 -65 55 -63.48 -65.71 18695.7 45454.4
    2029.5 66 -21 32 -14.63 -56.68 16100.3 29312.4
    2029.5 18 9 -172 9.24 15.85 30922.5 32144.7
    2029.5 63 88 26 36.52 87.37 2539.9 55344.9
    2029.5 33 17 5 0.89 13.77 34026.1 35033.6
    2029.5 77 -18 138 4.45 -47.55 31847.6 47186.0
    """.split(separator: "\n").map(Row.init)

  // The twelve rows of WMM2025_TEST_VALUES.txt (table 6 of the report): X, Y, Z, declination.
  static let components = """
    2025 0 80 0 6521.6 145.9 54791.5 1.28
    2025 0 0 120 39677.8 -109.6 -10580.2 -0.16
    2025 0 -80 240 6117.5 15751.9 -52022.5 68.78
    2025 100 80 0 6216.0 92.4 52598.8 0.85
    2025 100 0 120 37688.6 -96.2 -10152.1 -0.15
    2025 100 -80 240 5907.6 14780.3 -49540.7 68.21
    2027.5 0 80 0 6500.8 294.5 54869.4 2.59
    2027.5 0 0 120 39701.6 -167.4 -10381.8 -0.24
    2027.5 0 -80 240 6200.7 15730.3 -51783.7 68.49
    2027.5 100 80 0 6196.7 233.8 52670.5 2.16
    2027.5 100 0 120 37711.5 -148.7 -9969.8 -0.23
    2027.5 100 -80 240 5984.0 14760.1 -49317.7 67.93
    """.split(separator: "\n").map(Row.init)

  @Test func everyValueIsPublished() {
    #expect(Self.rows.count == 100 && Self.components.count == 12)
  }

  @Test(arguments: rows) func theFieldIsThePublishedOne(row: Row) throws {
    let field = try #require(row.field)
    #expect(abs(field.declination - row.values[0]) < 0.00501)
    let inclination = atan2(field.down, field.horizontal) * 180 / .pi
    #expect(abs(inclination - row.values[1]) < 0.00501)
    // The file has X to within 0.001 nT only.
    #expect(abs(field.horizontal - row.values[2]) < 0.0511)
    #expect(abs(hypot(field.horizontal, field.down) - row.values[3]) < 0.0511)
    #expect(!field.isExpired)
    #expect(field.isInBlackoutZone == (row.values[2] < 2000))
  }

  @Test(arguments: components) func theComponentsAreThePublishedOnes(row: Row) throws {
    let field = try #require(row.field)
    #expect(abs(field.north - row.values[0]) < 0.0501)
    #expect(abs(field.east - row.values[1]) < 0.0501)
    #expect(abs(field.down - row.values[2]) < 0.0501)
    #expect(abs(field.declination - row.values[3]) < 0.00501)
  }

  // Table 3b of the report has this point to ten decimals.
  @Test func theFieldIsExact() throws {
    let row = Row("2027.5 100 -80 240")
    let field = try #require(row.field)
    #expect(abs(field.north - 5983.9760496518) < 1e-8)
    #expect(abs(field.east - 14760.1359757868) < 1e-8)
    #expect(abs(field.down - -49317.6706154255) < 1e-8)
  }

  @Test(arguments: [90.0, -90], [0.0, 77, -150, 180])
  func aPoleIsAPlaceAsItsSurroundings(latitude: Double, longitude: Double) throws {
    let pole = try #require(Coordinate(latitude: latitude, longitude: longitude))
    let near = try #require(Coordinate(latitude: latitude * 0.9999999, longitude: longitude))
    let (field, beside) = (
      MagneticModel.field(at: pole, height: 0, year: 2026),
      MagneticModel.field(at: near, height: 0, year: 2026)
    )
    #expect(abs(field.north - beside.north) < 0.2)
    #expect(abs(field.east - beside.east) < 0.2)
    #expect(abs(field.down - beside.down) < 0.2)
  }

  @Test(
    arguments: [
      (1_735_689_600, 2025.0), (1_767_225_600, 2026), (1_893_456_000, 2030), (0, 1970),
      (951_782_400, 2000 + 59.0 / 366), (1_798_761_599, 2026.99999997), (-1, 1969.99999997),
      (4_107_542_400, 2100 + 59.0 / 365), (-2_208_988_800, 1900), (1_893_455_999, 2029.99999997),
    ] as [(Int64, Double)])
  func aYearIsDecimal(seconds: Int64, year: Double) {
    let time = WallClockTime(nanoseconds: seconds * 1_000_000_000)
    #expect(abs(time.decimalYear - year) < 1e-8)
  }

  @Test(
    arguments: [
      (1_735_689_599, true), (1_735_689_600, false), (1_893_455_999, false), (1_893_456_000, true),
      (0, true), (9_000_000_000, true),
    ] as [(Int64, Bool)])
  func theModelExpires(seconds: Int64, isExpired: Bool) throws {
    let place = try #require(Coordinate(latitude: 48, longitude: 2))
    let field = MagneticModel.field(
      at: place, time: WallClockTime(nanoseconds: seconds * 1_000_000_000))
    #expect(field.isExpired == isExpired)
    // A wrong clock turns no heading round.
    #expect((0.0..<4).contains(field.declination))
    #expect((0.3..<0.4).contains(field.declinationAccuracy))
  }

  @Test(
    arguments: [
      ("2027 61 59 -77", 10, 353.52), ("2027 61 59 -77", 359.9, 343.42),
      ("2028.5 28 54 -120", 350, 5.43),
    ] as [(Substring, Double, Double)])
  func aTrueHeadingIsTheMagneticOneWithTheDeclination(
    row: Substring, magnetic: Double, heading: Double
  ) throws {
    let north = NorthDifference(try #require(Row(row).field))
    var filter = HeadingFilter()
    let reading = CompassReading(
      time: MonotonicTime(nanoseconds: 0), timestamp: WallClockTime(nanoseconds: 0),
      magneticHeading: magnetic)
    let received = filter.receive(reading, north: north)
    #expect(abs(try #require(received?.trueHeading) - heading) < 0.01)
  }

  @Test func nearThePoleThereIsNoTrueHeading() throws {
    let blackout = try #require(Row("2029 50 87 -154").field)
    #expect(NorthDifference(blackout) == nil)
    #expect(blackout.declinationAccuracy > 5.9)
  }
}
