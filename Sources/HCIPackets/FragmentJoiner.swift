public import Advertising

/// Joins the fragments in which a controller reports one long advert (Core Specification, Vol 4,
/// Part E, §7.7.65.13: Data_Status).
///
/// Fragments belong together by adapter, advertiser, advertising set and kind of event. At most 16 adverts are
/// pending at once, of at most 1,650 bytes each (the most that the specification allows) and for at most one
/// second: 27 KB, taken as fragments come. What is given up is counted in ``lost``.
@usableFromInline
package struct FragmentJoiner: ~Copyable, Sendable {
  /// Whether fragments wait for the rest of their advert: every report must then be shown to
  /// ``join(_:adapter:at:)``.
  @usableFromInline
  package private(set) var isPending = false
  /// How many adverts were given up since this was last set to 0.
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

  /// Starts with nothing pending.
  @usableFromInline
  package init() {}

  /// Receives a report or a part of one, and returns the whole advert if this ended one. The time is in nanoseconds
  /// of any clock that does not go back.
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
    // 0: complete. 1: more to come. Else the controller truncated it.
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
      // Only initialised integers, which stay until the next call.
      data: unsafe joined.span.bytes, address: key.address, addressType: key.addressType,
      eventType: key.eventType, rssi: entry.rssi)
  }

  /// Gives up whatever is pending: nothing more will come.
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
