public import Advertising
import Bytes

/// Turns advertising reports into sightings: the one place where a report is searched for iBeacon
/// frames, whatever heard it.
///
/// The sightings gather in ``sightings`` until their reader takes them; the array keeps its memory
/// from batch to batch, so that a report costs no allocation.
@frozen
public struct SightingCollector: AdvertisingReportSink {
  /// What was heard since the last ``removeSightings()``, in order.
  public var sightings: [Sighting]
  /// What was counted since the collector was made.
  public var counts = ScanCounts()
  /// The moment that the next reports are given, on the line that never goes back.
  public var time = Timestamp(nanoseconds: 0)
  /// The moment that the next reports are given, as it is shown.
  public var wallTime = Timestamp(nanoseconds: 0)
  /// The adapter that the next reports are given.
  public var adapter: UInt16 = 0

  /// Makes a collector.
  ///
  /// - Parameter capacity: For how many sightings memory is taken at once.
  public init(capacity: Int = 1024) {
    sightings = []
    sightings.reserveCapacity(capacity)
  }

  /// Forgets the sightings, and keeps their memory and all counts.
  @inlinable
  public mutating func removeSightings() {
    sightings.removeAll(keepingCapacity: true)
  }

  /// Looks at every manufacturer-specific structure of a report.
  @inlinable @inline(__always)
  public mutating func heard(_ report: AdvertisingReport) {
    counts.reports &+= 1
    var structures = ADStructures(report.data)
    do throws(ParseError) {
      while let structure = try structures.next() {
        guard structure.type == .manufacturerSpecificData else { continue }
        switch IBeacon.read(manufacturerData: structure.data) {
        case .frame(let frame):
          counts.sightings &+= 1
          sightings.append(
            Sighting(
              time: time, wallTime: wallTime, beacon: frame.identity, measuredPower: frame.measuredPower,
              rssi: report.rssi, address: report.address, addressType: report.addressType,
              adapter: adapter))
        case .malformed:
          refused(.malformedIBeacon)
        case .other:
          break
        }
      }
    } catch {
      refused(.malformedADStructure)
    }
  }

  /// Counts a refusal.
  @inlinable
  public mutating func refused(_ refusal: Refusal) {
    counts.refused[Int(refusal.rawValue)] &+= 1
  }
}

/// How much was heard, and how much was refused.
@frozen
public struct ScanCounts: Sendable {
  /// Packets of any kind.
  public var packets = 0
  /// Packets that hold advertising: HCI advertising events, and PDUs of the advertising channels,
  /// right or not.
  public var advertisingPackets = 0
  /// Advertising reports, and PDUs that carry advertising data.
  public var reports = 0
  /// iBeacon frames.
  public var sightings = 0
  @usableFromInline
  var refused = InlineArray<8, Int>(repeating: 0)

  /// Starts at nothing.
  @inlinable
  public init() {}

  /// How often something was refused for a reason.
  public subscript(refusal: Refusal) -> Int {
    refused[Int(refusal.rawValue)]
  }

  /// Adds another source's counts.
  public static func += (left: inout Self, right: Self) {
    left.packets += right.packets
    left.advertisingPackets += right.advertisingPackets
    left.reports += right.reports
    left.sightings += right.sightings
    for index in left.refused.indices { left.refused[index] += right.refused[index] }
  }
}
