import Advertising
import Foundation
import Records
import Scanning
import TestSupport
import Testing

@testable import beaconscan

/// `scan --all` and `inspect --all`: every advertiser; and what filters let through.
@Suite(.blocking) struct AdvertiserTests {
  private func advertisers(_ arguments: String...) throws -> [[String: Any]] {
    let run = try Command.run(arguments + ["--json"])
    try #require(run.status == 0, "\(run.error)")
    return try run.json().filter { $0["type"] as? String == "advertiser" }
  }

  /// A recording that a controller made, of adverts whose orders stand beside it.
  @Test func everyKind() throws {
    let list = try advertisers("inspect", "--all", Command.capture("vm/mixed.btsnoop"))
    func advertiser(_ address: String) throws -> [String: Any] {
      try #require(list.first { $0["address"] as? String == address }, "\(address)")
    }
    let eddystone = try advertiser("C0:00:00:00:00:0F")
    #expect(eddystone["services"] as? [String] == ["FEAA"])
    let beacons = try #require(eddystone["beacons"] as? [[String: Any]])
    #expect(beacons.map { $0["type"] as? String } == ["eddystone-uid"])
    #expect(beacons.first?["namespace"] as? String == "00112233445566778899")
    #expect(eddystone["count"] as? Int == 20 && eddystone["addressType"] as? String == "random")
    let interval = try #require(eddystone["interval"] as? Double)
    #expect((0.25...0.35).contains(interval))
    let named = try advertiser("C0:00:00:00:00:03")
    #expect(named["name"] as? String == "test" && named["companyName"] as? String == "Apple")
    #expect(named["company"] as? Int == 0x4C)
  }

  /// Both subcommands list the same; every report counts once; the orders and limits are right.
  @Test func listsAndOrders() throws {
    let lobby = Command.capture("lobby.btsnoop")
    let list = try advertisers("inspect", "--all", lobby)
    let again = try advertisers("scan", "--all", lobby)
    #expect(list as NSArray == again as NSArray && list.count > 40)
    #expect(list.compactMap { $0["count"] as? Int }.reduce(0, +) == 2895)
    let counts = try advertisers("inspect", "--all", lobby, "--sort", "count", "--top", "5")
      .compactMap { $0["count"] as? Int }
    #expect(
      counts == Array(list.compactMap { $0["count"] as? Int }.sorted(by: >).prefix(5)))
    let strengths = try advertisers("inspect", "--all", lobby, "--sort", "rssi")
      .compactMap { $0["rssiMean"] as? Double }
    #expect(strengths == strengths.sorted(by: >) && strengths.count >= 40)
    let csv = try Command.run("inspect", "--all", lobby, "--format", "csv")
    #expect(csv.lines.count == list.count + 1)
    #expect(
      csv.lines.first
        == "address,addressType,name,company,companyName,services,beacons,count,rssi,rssiMean,rssiMin,rssiMax,interval,intervalSamples,first,last"
    )
    let table = try Command.run("scan", "--all", lobby)
    #expect(table.lines.count == list.count + 1 && table.output.contains("iBeacon F7826DA6"))
    let beacons = try Command.run("inspect", lobby, "--sort", "count", "--top", "3", "--json")
      .json()
    #expect(beacons.filter { $0["type"] as? String == "beacon" }.count == 3)
  }

  /// A name from the air writes nothing into the terminal but itself.
  @Test func hostileNames() throws {
    var census = AdvertiserCensus()
    census.receive(advert(1, Array("\u{7}\u{9}\u{1B}[2J\u{202E}".utf8), type: 0x09))
    let out = try #require(census.advertisers.first)
    #expect(out.contents?.name == "\u{7}\u{9}\u{1B}[2J\u{202E}")
    let table = Table(AdvertiserStatistics.record.columns, .utc).lines(census.advertisers)
    #expect(table.joined().unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
  }

  private func advert(_ address: UInt64, _ data: [UInt8], type: UInt8, at time: Int64 = 0) -> Advert
  {
    Advert(
      address: BluetoothAddress(rawValue: address), addressType: .random, eventType: .advNonconnInd,
      rssi: -60, time: MonotonicTime(nanoseconds: time), wallTime: WallClockTime(nanoseconds: time),
      data: [UInt8(data.count + 1), type] + data)
  }

  /// A million addresses cost no memory.
  @Test func bounded() {
    var census = AdvertiserCensus()
    for address in 0..<20_000 {
      census.receive(advert(UInt64(address), [0x4C, 0x00], type: 0xFF, at: Int64(address)))
    }
    #expect(census.advertisers.count <= AdvertiserCensus.capacity)
    #expect(census.count == 20_000 && census.reports == 20_000 && census.evictions > 15_000)
    // Those that were received last are kept.
    #expect(census.advertisers.last?.address.rawValue == 19_999)
    // A sender of ever new beacons is one advertiser with eight of them.
    var one = AdvertiserCensus()
    for minor in 0..<100 {
      let frame = IBeacon(
        identity: BeaconIdentity(
          uuid: ProximityUUID(high: 1, low: 2), major: 3, minor: UInt16(minor)),
        measuredPower: -59)
      one.receive(advert(1, frame.manufacturerData, type: 0xFF, at: Int64(minor)))
    }
    #expect(one.advertisers.map(\.beacons.count) == [8])
  }

  /// What filters leave is what passes them.
  @Test func filters() throws {
    func scan(_ filter: String) throws -> [[String: Any]] {
      try Command.shell(
        "TZ=Europe/Berlin beaconscan scan captures/visitor.btsnoop --json \(filter)"
      )
      .json()
    }
    let all = try scan("")
    let loud = try scan("--min-rssi -60")
    #expect(loud as NSArray == all.filter { $0["rssi"] as? Int ?? -128 >= -60 } as NSArray)
    #expect(!loud.isEmpty && loud.count < all.count)
    let window = all.filter { line in
      let time = line["time"] as? String ?? ""
      return time >= "2026-01-15T09:00:10" && time < "2026-01-15T09:01:00"
    }
    for times in [
      "--since '2026-01-15 10:00:10' --until '2026-01-15 10:01'",
      "--since 2026-01-15T09:00:10Z --until 2026-01-15T09:01:00.000Z",
      "--since 2026-01-15T03:30:10-05:30 --until 2026-01-15T10:01+01:00",
      "--utc --since '2026-01-15 09:00:10' --until '2026-01-15T09:01'",
    ] {
      #expect(try scan(times) as NSArray == window as NSArray, "\(times)")
    }
    let inspect = try Command.shell(
      "beaconscan inspect captures/visitor.btsnoop --json --utc --since '2026-01-15 09:00:10' "
        + "--until '2026-01-15 09:01'"
    ).json()
    #expect(inspect.compactMap { $0["sightings"] as? Int }.dropLast().reduce(0, +) == window.count)
  }

  /// A filter that nothing matches is reported, and what it was.
  @Test(arguments: [
    "scan captures/visitor.btsnoop --min-rssi 0", "inspect captures/visitor.btsnoop --min-rssi 0",
    "scan captures/visitor.btsnoop --uuid 00000000000000000000000000000000",
    "range captures/visitor.btsnoop --uuid 00000000000000000000000000000000",
    "monitor captures/visitor.btsnoop --uuid 00000000000000000000000000000000",
  ])
  func noMatch(arguments: String) throws {
    for format in ["table", "json", "csv"] {
      let run = try Command.shell("beaconscan \(arguments) --format \(format)")
      #expect(run.status == 0 && run.error == "beaconscan: 0 of 1,113 sightings matched\n")
      #expect(try Command.shell("beaconscan \(arguments) --format \(format) -q").error.isEmpty)
    }
    // A scan shows lines as they come, and no header over none.
    if arguments.hasPrefix("scan") {
      let table = try Command.shell("beaconscan \(arguments)")
      #expect(table.output.isEmpty)
      #expect(try Command.shell("beaconscan \(arguments) --format csv").lines.count == 1)
    }
    let all = try Command.shell("beaconscan scan --all captures/visitor.btsnoop --min-rssi 0")
    #expect(all.error == "beaconscan: 0 of 2,072 adverts matched\n")
  }
}
