public import Advertising

/// A buffer that joins the fragments of long adverts (Core Specification, Vol 4, Part E,
/// §7.7.65.13: Data_Status).
///
/// Fragments with the same adapter, advertiser, advertising set and event type belong together. At
/// most 16 adverts are pending, each of at most 1,650 bytes (the specification's limit) and for at
/// most one second; they need at most 27 KB, allocated as fragments arrive.
@usableFromInline
package struct FragmentJoiner: ~Copyable, Sendable {
  /// Whether adverts are incomplete. While `true`, pass every report to ``join(_:adapter:at:)``.
  @usableFromInline
  package private(set) var isPending = false
  /// The number of adverts discarded since this was last set to 0.
  @usableFromInline
  package var lost = 0

  private var pending: [Pending] = []
  private var joined: [UInt8] = []

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

  private static let maximumPending = 16
  private static let maximumBytes = 1650
  private static let longestWait: Int64 = 1_000_000_000

  @usableFromInline
  package init() {}

  /// Receives a report or fragment, and returns the advert that it completes. `time` is in
  /// nanoseconds of a monotonic clock.
  @usableFromInline
  @_lifetime(&self)
  package mutating func join(_ fragment: AdvertisingFragment, adapter: UInt16, at time: Int64)
    -> AdvertisingReport?
  {
    giveUp(before: time)
    defer { isPending = !pending.isEmpty }
    let report = fragment.report
    let key = Key(
      address: report.address, addressType: report.addressType, eventType: report.eventType,
      set: fragment.advertisingSet, adapter: adapter)
    let index = pending.firstIndex { $0.key == key }
    var entry = index.map { pending.remove(at: $0) } ?? Pending(key: key, started: time)
    // Data_Status: 0 complete, 1 more to come; others: the controller truncated the advert.
    guard fragment.dataStatus <= 1,
      entry.data.count + report.data.byteCount <= Self.maximumBytes
    else {
      lost += 1
      return nil
    }
    entry.rssi = report.rssi ?? entry.rssi
    // The bytes are copied before the closure ends.
    unsafe report.data.withUnsafeBytes { unsafe entry.data.append(contentsOf: $0) }
    guard fragment.isWhole else {
      if pending.count == Self.maximumPending {
        pending.removeFirst()
        lost += 1
      }
      pending.append(entry)
      return nil
    }
    joined = entry.data
    return AdvertisingReport(
      // Only initialized integers, which stay in place until the next call.
      data: unsafe joined.span.bytes, address: key.address, addressType: key.addressType,
      eventType: key.eventType, rssi: entry.rssi)
  }

  /// Discards all pending adverts. Call this when no more reports will come.
  @usableFromInline
  package mutating func giveUpAll() {
    lost += pending.count
    pending.removeAll()
    isPending = false
  }

  private mutating func giveUp(before time: Int64) {
    let before = pending.count
    pending.removeAll { entry in
      let waited = time.subtractingReportingOverflow(entry.started)
      return waited.overflow || waited.partialValue > Self.longestWait
    }
    lost += before - pending.count
  }
}
