import Advertising
import FleetSites
import Fusion
import Testing

@Suite struct SiteCalibrationTests {
  private static func beacon(_ number: Int) -> BeaconIdentity {
    BeaconIdentity(uuid: SiteSimulator.uuid, major: 9, minor: UInt16(number))
  }

  /// A site whose receivers advertise beacons.
  private static func site(rooms: Int) -> Site {
    var site = Site(planOf: rooms)
    site.propagation.sensitivity = -110
    for index in site.receivers.indices { site.receivers[index].beacon = beacon(index) }
    return site
  }

  /// A number between the bounds, by a hash of the seed and the index.
  private static func number(_ seed: UInt64, _ index: Int, _ range: ClosedRange<Double>) -> Double {
    var mixed = (seed &* 1000 &+ UInt64(index)) &* 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    mixed ^= mixed >> 31
    return range.lowerBound
      + (range.upperBound - range.lowerBound) * Double(mixed >> 11) * 0x1p-53
  }

  /// What the receivers of the real site receive of each other in half a minute. Their powers differ
  /// by up to 4 dB, and so do the levels of a pair from the law by up to `shadowing`.
  private static func calibration(
    of file: Site, real: Site, seed: UInt64, shadowing: Double
  ) -> SiteCalibration {
    var calibration = SiteCalibration(file)
    let losses = SiteLosses(real)
    for second in 1...30 {
      for (to, receiver) in real.receivers.enumerated() {
        var receptions: [ReceiverSecond.Reception] = []
        for (from, transmitter) in real.receivers.enumerated() where from != to {
          guard let path = losses.path(from: transmitter, to: receiver) else { continue }
          let pair = 1000 + 100 * min(from, to) + max(from, to)
          let mean =
            -59 + receiver.offset - path.loss(real.propagation)
            + number(seed, from, -4...4) + number(seed, pair, -shadowing...shadowing)
            + number(seed, 100_000 * second + 100 * to + from, -4...4)
          guard mean > real.propagation.sensitivity else { continue }
          receptions.append(.init(beacon(from), count: 5, mean: mean, measuredPower: -59))
        }
        calibration.receive(
          ReceiverSecond(
            receiver: receiver.name, boot: 1, number: UInt64(second),
            time: Int64(second) * 1000, receptions: receptions))
      }
    }
    return calibration
  }

  /// Offsets up to 8 dB whose mean is 0.
  private static func offsets(_ count: Int, seed: UInt64) -> [Double] {
    let offsets = (0..<count).map { number(seed, 500 + $0, -8...8) }
    let mean = offsets.reduce(0, +) / Double(count)
    return offsets.map { $0 - mean }
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func findsOffsetsExponentAndWalls(_ seed: UInt64) throws {
    let file = Self.site(rooms: 10)
    var real = file
    real.propagation.exponent = Self.number(seed, 900, 1.8...3.2)
    real.propagation.wallLoss = Self.number(seed, 901, 1...6)
    for (index, offset) in Self.offsets(10, seed: seed).enumerated() {
      real.receivers[index].offset = offset
    }
    let calibration = Self.calibration(
      of: file, real: real, seed: seed, shadowing: 1)
    let solution = try #require(calibration.solution())
    let errors = zip(solution.site.receivers, real.receivers).map { abs($0.offset - $1.offset) }
    let law = solution.site.propagation
    print(
      "seed \(seed): offsets within \(errors.max() ?? 0) dB, exponent \(law.exponent) for "
        + "\(real.propagation.exponent), wall \(law.wallLoss) for \(real.propagation.wallLoss) dB")
    #expect(errors.allSatisfy { $0 < 1 })
    #expect(abs(law.exponent - real.propagation.exponent) < 0.4)
    #expect(abs(law.wallLoss - real.propagation.wallLoss) < 1.5)
    #expect(calibration.pairs >= 60 && solution.pairs.count == calibration.pairs)
    func square(_ path: KeyPath<SiteCalibration.Pair, Double>) -> Double {
      solution.pairs.reduce(0) { $0 + $1[keyPath: path] * $1[keyPath: path] }
    }
    #expect(square(\.after) < square(\.before) / 4)
  }

  @Test func keepsARightFile() throws {
    var file = Self.site(rooms: 6)
    file.receivers[2].offset = 4
    let calibration = Self.calibration(of: file, real: file, seed: 7, shadowing: 0)
    let solution = try #require(calibration.solution())
    for (learned, receiver) in zip(solution.site.receivers, file.receivers) {
      #expect(abs(learned.offset - receiver.offset) < 0.7)
    }
    #expect(solution.site.rooms == file.rooms)
  }

  @Test func neverHasWallsThatStrengthen() throws {
    let file = Self.site(rooms: 6)
    var real = file
    real.propagation.wallLoss = -4
    let calibration = Self.calibration(of: file, real: real, seed: 3, shadowing: 0)
    let solution = try #require(calibration.solution())
    #expect(solution.site.propagation.wallLoss >= 0)
    #expect(solution.site.propagation.wallLoss < 0.1)
  }

  @Test func needsThreePairsWithPlaces() throws {
    let file = Self.site(rooms: 3)
    var two = file
    two.receivers[2].beacon = nil
    two.receivers[1].beacon = nil
    #expect(Self.calibration(of: two, real: file, seed: 1, shadowing: 0).pairs == 2)
    #expect(Self.calibration(of: two, real: file, seed: 1, shadowing: 0).solution() == nil)
    #expect(Self.calibration(of: file, real: file, seed: 1, shadowing: 0).pairs == 6)
    var unplaced = file
    unplaced.receivers[0].position = nil
    #expect(Self.calibration(of: unplaced, real: file, seed: 1, shadowing: 0).pairs == 2)
    // Levels below the sensitivity are estimates.
    var weak = file
    weak.propagation.sensitivity = -40
    #expect(Self.calibration(of: weak, real: file, seed: 1, shadowing: 0).pairs == 0)
  }

  @Test func setsWhatChangesInTheFile() throws {
    let text = """
      name = "flat"  # the third
      [[rooms]]
      name = "kitchen"
      [[receivers]]
      name = "one"
      at = [1, 1]  # above the door
      beacon = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:9:0"
      [[receivers]]
      name = "two"
      offset = 2.5  # by hand
      at = [3, 1]
      """
    var site = try Site(parsing: Array(text.utf8))
    #expect(site.receivers.map(\.beacon) == [Self.beacon(0), nil])
    #expect(try SiteFile.bytes(Array(text.utf8), settingLawOf: site) == Array(text.utf8))
    site.receivers[0].offset = -1.25
    site.receivers[1].offset = 1.25
    site.propagation.exponent = 2.875
    let edited = try SiteFile.bytes(Array(text.utf8), settingLawOf: site)
    #expect(
      String(decoding: edited, as: UTF8.self)
        == text.replacing(":9:0\"\n", with: ":9:0\"\noffset = -1.25\n")
        .replacing("= 2.5  #", with: "= 1.25  #") + "\n\n[signal]\nexponent = 2.875\n")
    #expect(try Site(parsing: edited) == site)
  }

  @Test(arguments: [
    ("\"E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:9\"", ""), ("7", ""),
    ("\"E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:9:0\"", "the same"),
  ])
  func refusesAnotherBeacon(_ beacon: String, _ other: String) {
    let text = """
      name = "flat"
      [[rooms]]
      name = "kitchen"
      [[receivers]]
      name = "one"
      room = "kitchen"
      beacon = \(beacon)

      """
    let second = "[[receivers]]\nname = \"two\"\nroom = \"kitchen\"\nbeacon = \(beacon)\n"
    #expect(throws: SiteFileError.self) {
      try Site(parsing: Array((text + (other.isEmpty ? "" : second)).utf8))
    }
  }
}
