import Advertising
import Bytes
import HCIPackets
import TestSupport

/// A report as a controller writes it into an event, and as it must be read.
struct Report: Equatable {
  var eventType: UInt16 = 0x03
  var addressType: UInt8 = 1
  var address: [UInt8] = [1, 2, 3, 4, 5, 6]
  var set: UInt8 = 0xFF
  var rssi: Int8 = -64
  var data: [UInt8] = [0x02, 0x01, 0x06]

  /// As LE Advertising Report has it.
  var legacyBytes: [UInt8] {
    [UInt8(eventType), addressType] + address + [UInt8(data.count)] + data
      + [UInt8(bitPattern: rssi)]
  }

  /// As LE Extended Advertising Report has it.
  var extendedBytes: [UInt8] {
    [UInt8(eventType & 0xFF), UInt8(eventType >> 8), addressType] + address
      + [0x01, 0x02, set, 0x7F, UInt8(bitPattern: rssi), 0, 0, 0, 0, 0, 0, 0, 0, 0]
      + [UInt8(data.count)] + data
  }

  static func random(using random: inout SplitMix64, extended: Bool, most: Int) -> Report {
    Report(
      eventType: extended ? UInt16(random.next() & 0x1F) : UInt16(random.next() % 5),
      addressType: UInt8(random.next() % 4), address: random.bytes(6),
      set: extended ? UInt8(random.next() % 16) : 0xFF, rssi: -Int8(random.next() % 100),
      data: random.bytes(Int.random(in: 0...most, using: &random)))
  }
}

enum Event {
  /// An event with these reports; the counts and lengths are right unless told otherwise.
  static func legacy(_ reports: [Report], count: UInt8? = nil, length: UInt8? = nil) -> [UInt8] {
    make(0x02, reports.flatMap(\.legacyBytes), count ?? UInt8(reports.count), length)
  }

  static func extended(_ reports: [Report], count: UInt8? = nil, length: UInt8? = nil) -> [UInt8] {
    make(0x0D, reports.flatMap(\.extendedBytes), count ?? UInt8(reports.count), length)
  }

  private static func make(_ subevent: UInt8, _ body: [UInt8], _ count: UInt8, _ length: UInt8?)
    -> [UInt8]
  {
    [0x3E, length ?? UInt8(body.count + 2), subevent, count] + body
  }
}

/// What a walk over an event gave, as values.
struct Heard: Equatable {
  struct Item: Equatable {
    var eventType: UInt16
    var addressType: UInt8
    var address: UInt64
    var set: UInt8
    var status: UInt8
    var rssi: Int8?
    var data: [UInt8]
  }

  var items: [Item] = []
  var refusal: Refusal?

  /// Walks over an event; `nil` where it is another one.
  init?(_ event: [UInt8]) {
    guard var walk = unsafe AdvertisingEvent(event.span.bytes) else { return nil }
    do throws(Refusal) {
      while let item = try Item(next: &walk) { items.append(item) }
    } catch {
      refusal = error
      // The walk is over.
      do throws(Refusal) {
        while let item = try Item(next: &walk) { items.append(item) }
      } catch {
        refusal = nil
      }
    }
  }

  init(items: [Item], refusal: Refusal? = nil) {
    self.items = items
    self.refusal = refusal
  }
}

extension Heard.Item {
  /// The next report of an event, of whichever kind it is.
  @_lifetime(walk: copy walk)
  init?(next walk: inout AdvertisingEvent) throws(Refusal) {
    if walk.isExtended {
      guard let fragment = try walk.nextFragment() else { return nil }
      self.init(fragment.report, set: fragment.advertisingSet, status: fragment.dataStatus)
    } else {
      guard let report = try walk.nextReport() else { return nil }
      self.init(report, set: 0xFF, status: 0)
    }
  }

  init(_ report: AdvertisingReport, set: UInt8 = 0, status: UInt8 = 0) {
    self.init(
      eventType: report.eventType.rawValue, addressType: report.addressType.rawValue,
      address: report.address.rawValue, set: set, status: status, rssi: report.rssi,
      data: octets(report.data))
  }

  /// What must be read of a report.
  init(_ report: Report, extended: Bool) {
    let legacyTypes: [UInt16] = [0b10011, 0b10101, 0b10010, 0b10000, 0b11010]
    let index = Int(report.eventType)
    self.init(
      eventType: extended
        ? report.eventType & 0x1F : index < 5 ? legacyTypes[index] : 0b10000,
      addressType: report.addressType,
      address: report.address.reversed().reduce(0) { $0 << 8 | UInt64($1) },
      set: extended ? report.set : 0xFF,
      status: extended ? UInt8(report.eventType >> 5 & 3) : 0,
      rssi: report.rssi <= 20 ? report.rssi : nil, data: report.data)
  }
}

func octets(_ span: RawSpan) -> [UInt8] {
  (0..<span.byteCount).map { span.littleEndian(UInt8.self, at: $0) }
}
