public import Advertising

/// Joins the fragments in which a controller reports one long advert (Core Specification, Vol 4,
/// Part E, §7.7.65.13: Data_Status).
///
/// Fragments belong together by adapter, advertiser, advertising set and kind of event. At most 16 adverts
/// are pending at once, of at most 1,650 bytes each (the most that the specification allows) and for
/// at most one second: 27 KB, taken when the first fragment comes. What is given up is refused as
/// ``Refusal/incompleteReport``.
@usableFromInline
struct FragmentJoiner: ~Copyable {
  /// Whether a fragment waits for the rest of its advert.
  @usableFromInline
  private(set) var isPending = false

  private var pending: [Pending] = []

  private struct Pending {
    var key: Key
    var started: Int64
    var rssi: Int8?
    var data: [UInt8] = []
  }

  private struct Key: Equatable {
    var address: BluetoothAddress
    var addressType: AddressType
    var eventType: AdvertisingEventType
    var set: UInt8
    var adapter: UInt16
  }

  private static let mostPending = 16
  private static let mostBytes = 1650
  private static let longestWait: Int64 = 1_000_000_000

  @usableFromInline
  init() {}

  /// Takes one fragment, and hands on the whole advert when it was the last.
  @usableFromInline
  mutating func join<Sink: AdvertisingReportSink & ~Copyable>(
    _ report: AdvertisingReport, status: UInt16, set: UInt8, adapter: UInt16,
    at time: Int64, into sink: inout Sink
  ) {
    giveUp(before: time, &sink)
    let key = Key(
      address: report.address, addressType: report.addressType, eventType: report.eventType,
      set: set, adapter: adapter)
    let index = pending.firstIndex { $0.key == key }
    switch status {
    case 0b00:  // Complete
      guard let index else { return sink.heard(report) }
      var entry = pending.remove(at: index)
      if append(report, to: &entry) {
        // The span is over initialised integers and does not outlive this call.
        unsafe sink.heard(
          AdvertisingReport(
            data: entry.data.span.bytes, address: key.address, addressType: key.addressType,
            eventType: key.eventType, rssi: entry.rssi))
      } else {
        sink.refused(.incompleteReport)
      }
    case 0b01:  // Incomplete, more data to come
      var entry = Pending(key: key, started: time)
      if let index {
        entry = pending.remove(at: index)
      } else if pending.count == Self.mostPending {
        pending.removeFirst()
        sink.refused(.incompleteReport)
      }
      if append(report, to: &entry) {
        pending.append(entry)
      } else {
        sink.refused(.incompleteReport)
      }
    default:  // Incomplete, data truncated, no more to come; or reserved
      if let index { pending.remove(at: index) }
      sink.refused(.incompleteReport)
    }
    isPending = !pending.isEmpty
  }

  private func append(_ report: AdvertisingReport, to entry: inout Pending) -> Bool {
    guard entry.data.count + report.data.byteCount <= Self.mostBytes else { return false }
    entry.rssi = report.rssi ?? entry.rssi
    // The bytes are copied before the closure ends.
    unsafe report.data.withUnsafeBytes { unsafe entry.data.append(contentsOf: $0) }
    return true
  }

  private mutating func giveUp<Sink: AdvertisingReportSink & ~Copyable>(
    before time: Int64, _ sink: inout Sink
  ) {
    pending.removeAll { entry in
      let waited = time.subtractingReportingOverflow(entry.started)
      guard waited.overflow || waited.partialValue > Self.longestWait else { return false }
      sink.refused(.incompleteReport)
      return true
    }
    isPending = !pending.isEmpty
  }
}
