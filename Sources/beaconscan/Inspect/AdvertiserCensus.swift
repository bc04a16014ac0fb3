import Advertising
import Bytes
import Records
import Scanning
import Synchronization

/// Counts advertisers of every kind. It keeps at most ``capacity`` of them in less than 8 MB; at
/// the limit, the eighth that was received longest ago is dropped.
struct AdvertiserCensus {
  private struct Key: Hashable {
    let address: BluetoothAddress
    let type: AddressType
  }

  static let capacity = 4096

  private var known: [Key: AdvertiserStatistics] = [:]
  private(set) var evictions = 0
  private(set) var reports = 0

  var count: Int { known.count + evictions }

  var advertisers: [AdvertiserStatistics] {
    known.values.sorted {
      ($0.first, $0.address.rawValue, $0.addressType.rawValue)
        < ($1.first, $1.address.rawValue, $1.addressType.rawValue)
    }
  }

  mutating func receive(_ advert: Advert) {
    reports += 1
    let key = Key(address: advert.address, type: advert.addressType)
    if known[key] == nil, known.count == Self.capacity { makeRoom() }
    known[key, default: AdvertiserStatistics(advert)].receive(advert)
  }

  private mutating func makeRoom() {
    let leaving = Self.capacity / 8
    let oldest = known.sorted {
      ($0.value.last, $0.key.address.rawValue, $0.key.type.rawValue)
        < ($1.value.last, $1.key.address.rawValue, $1.key.type.rawValue)
    }
    for (key, _) in oldest.prefix(leaving) { known[key] = nil }
    evictions += leaving
  }
}

struct Advert {
  let address: BluetoothAddress
  let addressType: AddressType
  let eventType: AdvertisingEventType
  let rssi: Int8?
  let time: MonotonicTime
  let wallTime: WallClockTime
  let data: [UInt8]
}

/// Passes adverts from the receiving thread to the counting one. They are removed after each
/// receiving call, so the queue holds at most the adverts of one call.
final class AdvertQueue: Sendable {
  private let adverts = Mutex<[Advert]>([])

  /// A bound that no source reaches. Later adverts would be dropped.
  private static let capacity = 1 << 17

  var tap: ReportTap {
    { [self] report, time, wallTime, _ in
      // The memory is used only during the call.
      let data = unsafe report.data.withUnsafeBytes { unsafe Array($0) }
      let advert = Advert(
        address: report.address, addressType: report.addressType, eventType: report.eventType,
        rssi: report.rssi, time: time, wallTime: wallTime, data: data)
      adverts.withLock { adverts in
        if adverts.count < Self.capacity { adverts.append(advert) }
      }
    }
  }

  /// Removes and returns adverts up to a time, or all. A paced recording is read ahead.
  func remove(until end: MonotonicTime? = nil) -> [Advert] {
    adverts.withLock { adverts in
      var taken: [Advert] = []
      swap(&taken, &adverts)
      guard let end else { return taken }
      adverts = taken.filter { $0.time > end }
      return taken.filter { $0.time <= end }
    }
  }
}

struct AdvertiserStatistics: Sendable {
  let address: BluetoothAddress
  let addressType: AddressType
  let first: WallClockTime
  private(set) var last: WallClockTime
  private(set) var contents: AdvertContents?
  /// The latest frame of each beacon, newest first; at most ``maximumBeacons``.
  private(set) var beacons: [AdvertDescription.Beacon] = []
  private(set) var count = 0
  private(set) var rssi: Int8?
  private(set) var signal = SignalStatistics()

  fileprivate private(set) var gaps = AdvertisingInterval()
  private var latest: MonotonicTime?
  /// The last data, which is not read again: of adverts, and of scan responses.
  private var latestData: [UInt8] = []
  private var latestResponse: [UInt8] = []

  private static let maximumBeacons = 8

  init(_ advert: Advert) {
    address = advert.address
    addressType = advert.addressType
    first = advert.wallTime
    last = advert.wallTime
  }

  /// The seconds between two adverts, if known. Anonymous senders count as one.
  var interval: Double? { addressType == .anonymous ? nil : gaps.period }

  /// The kind of its adverts: its first kind of beacon, or else its company or service.
  var kind: String? {
    beacons.last?.summary.split(separator: " ").first.map(String.init) ?? company
      ?? contents?.services.first.map { "service \($0)" }
  }

  mutating func receive(_ advert: Advert) {
    count += 1
    last = advert.wallTime
    if let rssi = advert.rssi {
      self.rssi = rssi
      signal.receive(rssi)
    }
    if advert.eventType.contains(.scanResponse) {
      if advert.data != latestResponse { read(advert.data) }
      latestResponse = advert.data
    } else {
      // A response follows its advert immediately.
      if let latest { gaps.add(gap: advert.time.nanoseconds(since: latest)) }
      latest = advert.time
      if advert.data != latestData { read(advert.data) }
      latestData = advert.data
    }
  }

  private mutating func read(_ data: [UInt8]) {
    // The span is over initialized bytes and does not outlive the array.
    let span = unsafe data.span.bytes
    let stated = AdvertContents(span)
    if contents?.merge(stated) == nil { contents = stated }
    var advert = AdvertDescription(input: .ad)
    advert.read(advertisingData: span)
    for beacon in advert.beacons {
      beacons.removeAll { $0.identity == beacon.identity }
      beacons.insert(beacon, at: 0)
      if beacons.count > Self.maximumBeacons { beacons.removeLast() }
    }
  }
}

extension AdvertiserStatistics {
  var company: String? {
    contents?.company.map { CompanyName.of($0) ?? "0x\($0.hexadecimal)" }
  }

  static let record = RecordType<AdvertiserStatistics>(
    "advertiser",
    [
      Field("address", .address, column: Column(missing: "anonymous", priority: .key)) {
        $0.addressType == .anonymous ? nil : $0.address
      },
      Field("addressType", .addressType, column: Column("TYPE", priority: .extra)) {
        $0.addressType
      },
      Field("name", .text.orNull, column: Column(priority: .main, fit: .cut(to: 8))) {
        $0.contents?.name
      },
      Field("company", .integer(0...65535).orNull) { $0.contents?.company },
      Field(
        "companyName", .text.orNull,
        column: Column("COMPANY", priority: .usual, fit: .cut(to: 8)) { $0.company }
      ) { $0.contents?.company.flatMap(CompanyName.of) },
      Field("services", .list(of: .text), column: Column(priority: .detail, fit: .cut(to: 9))) {
        $0.contents?.services ?? []
      },
      Field(
        "beacons", .list(of: .one(of: AdvertDescription.Beacon.schemas)),
        column: Column("BEACON", priority: .usual, fit: .cut(to: 13))
      ) { advertiser in
        let beacons = advertiser.beacons
        let text = beacons.map(\.summary).joined(separator: ", ")
        return FieldValue.list(beacons, text: beacons.isEmpty ? nil : text) { $0.append(&$1) }
      },
      Field("count", .count, column: Column(nil, .right, priority: .main)) { $0.count },
      Field("rssi", .rssi) { $0.rssi },
      Field(
        "rssiMean", .number(-128...20).orNull, decimals: 2,
        column: Column("RSSI", .right, priority: .main) { $0.signal.mean.map { fixed($0, 1) } }
      ) { $0.signal.mean },
      Field("rssiMin", .rssi) { $0.signal.extremes?.weakest },
      Field("rssiMax", .rssi) { $0.signal.extremes?.strongest },
      Field(
        "interval", .number(0...).orNull, decimals: 3,
        column: Column(nil, .right) { $0.gaps.marked(fixed($0.interval, 2, "s")) }
      ) { $0.interval },
      Field("intervalSamples", .count) { $0.interval == nil ? 0 : $0.gaps.samples },
      Field("first", .time) { $0.first },
      Field("last", .time, column: Column("LAST", priority: .extra, time: \.last)) { $0.last },
    ])
}

extension RowOrder {
  /// Returns the advertisers in this order. The signal strength stands in for distance.
  func sorted(_ advertisers: [AdvertiserStatistics]) -> [AdvertiserStatistics] {
    switch self {
    case .distance, .rssi: advertisers.sorted { $0.signal.mean ?? -200 > $1.signal.mean ?? -200 }
    case .name: advertisers.sorted { $0.sortName < $1.sortName }
    case .last: advertisers.sorted { $0.last > $1.last }
    case .count: advertisers.sorted { $0.count > $1.count }
    }
  }
}

extension AdvertiserStatistics {
  /// Names sort before addresses.
  fileprivate var sortName: String { contents?.name.map { "0\($0)" } ?? "1\(address)" }
}
