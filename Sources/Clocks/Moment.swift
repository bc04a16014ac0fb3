/// A moment in nanoseconds on the line of one clock, within about 292 years of the line's origin: a
/// ``MonotonicTime`` or a ``WallClockTime``. Arithmetic saturates, so no recorded number traps.
@frozen
public struct Moment<Clock>: Hashable, Sendable, BitwiseCopyable {
  /// The nanoseconds since the line's origin; negative before it.
  public var nanoseconds: Int64

  /// Creates a moment.
  @inlinable
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  @inlinable
  package static var nanosecondsPerSecond: Int64 { 1_000_000_000 }

  /// Returns the moment that is `nanoseconds` later, or earlier if negative.
  @inlinable
  public func advanced(by nanoseconds: Int64) -> Self {
    let sum = self.nanoseconds.addingReportingOverflow(nanoseconds)
    return Self(nanoseconds: sum.overflow ? (nanoseconds > 0 ? .max : .min) : sum.partialValue)
  }

  /// Returns the moment that is `seconds` later; the distance saturates at about 100 years.
  package func advanced(bySeconds seconds: Double) -> Self {
    advanced(by: Int64(max(-3.2e9, min(3.2e9, seconds)) * 1e9))
  }

  /// Returns the nanoseconds from an earlier moment to this one.
  @inlinable
  public func nanoseconds(since earlier: Self) -> Int64 {
    let difference = nanoseconds.subtractingReportingOverflow(earlier.nanoseconds)
    return difference.overflow ? (nanoseconds < 0 ? .min : .max) : difference.partialValue
  }

  /// Returns the seconds from an earlier moment to this one.
  @inlinable
  public func seconds(since earlier: Self) -> Double { Double(nanoseconds(since: earlier)) / 1e9 }
}

extension Moment: Comparable {
  /// Orders moments by time.
  @inlinable
  public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
}

extension Moment: Codable {
  /// Decodes the nanoseconds since the line's origin.
  public init(from decoder: any Decoder) throws {
    self.init(nanoseconds: try decoder.singleValueContainer().decode(Int64.self))
  }

  /// Encodes the nanoseconds since the line's origin.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(nanoseconds)
  }
}

/// The time line on which all logic runs; it never goes back: the monotonic clock, or recorded
/// time.
@frozen
public enum MonotonicLine {}

/// The time line of the calendar: UTC without leap seconds. It jumps when a host's clock is set.
@frozen
public enum WallClockLine {}

/// A moment on the time line on which all logic runs.
public typealias MonotonicTime = Moment<MonotonicLine>

/// A moment of the calendar in nanoseconds since 1970-01-01T00:00:00Z, for people and files.
public typealias WallClockTime = Moment<WallClockLine>

extension WallClockTime {
  /// A time by its seconds since 1970.
  package init(second: Int64) {
    let (nanoseconds, isTooLarge) = second.multipliedReportingOverflow(by: 1_000_000_000)
    self.init(nanoseconds: isTooLarge ? (second < 0 ? .min : .max) : nanoseconds)
  }

  /// The whole seconds since 1970.
  package var second: Int64 { nanoseconds / 1_000_000_000 }
}

/// The distance from monotonic time to wall-clock time.
@frozen
public struct WallClockOffset: Hashable, Sendable, BitwiseCopyable, Codable {
  /// The nanoseconds to add to a monotonic time to get the wall-clock time.
  public var nanoseconds: Int64

  /// Creates an offset.
  @inlinable
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Creates the offset between two readings of the same moment; it saturates.
  @inlinable
  public init(from monotonic: MonotonicTime, to wallClock: WallClockTime) {
    let distance = MonotonicTime(nanoseconds: wallClock.nanoseconds).nanoseconds(since: monotonic)
    self.init(nanoseconds: distance)
  }

  /// The offset where both lines are the same.
  @inlinable
  package static var zero: Self { Self(nanoseconds: 0) }
}

extension MonotonicTime {
  /// Returns the wall-clock time of this moment.
  @inlinable
  public func wallClockTime(_ offset: WallClockOffset) -> WallClockTime {
    WallClockTime(nanoseconds: advanced(by: offset.nanoseconds).nanoseconds)
  }
}

extension WallClockTime {
  /// Returns the monotonic time of this moment.
  @inlinable
  public func monotonicTime(_ offset: WallClockOffset) -> MonotonicTime {
    MonotonicTime(nanoseconds: nanoseconds).advanced(by: 0 &- offset.nanoseconds)
  }
}

extension WallClockTime: CustomStringConvertible {
  /// The RFC 3339 form in UTC, truncated to microseconds: `2026-01-01T00:00:00.000000Z`.
  public var description: String {
    // 27 bytes of ASCII, each written once.
    unsafe String(unsafeUninitializedCapacity: 27) { unsafe write(rfc3339: $0) }
  }

  /// Writes the RFC 3339 form into a buffer of at least 27 bytes, and returns their number, 27.
  @unsafe
  package func write(rfc3339 text: UnsafeMutableBufferPointer<UInt8>) -> Int {
    func put(_ value: Int64, digits: Int, at start: Int) {
      var rest = value
      for index in stride(from: start + digits - 1, through: start, by: -1) {
        unsafe text[index] = UInt8(ascii: "0") + UInt8(rest % 10)
        rest /= 10
      }
    }
    _ = unsafe text.initialize(fromContentsOf: "0000-00-00T00:00:00.000000Z".utf8)
    let (day, time) = floorDivide(nanoseconds, 86400 * Self.nanosecondsPerSecond)
    let date = CivilDate(daysSinceEpoch: day)
    put(date.year, digits: 4, at: 0)
    put(date.month, digits: 2, at: 5)
    put(date.day, digits: 2, at: 8)
    let seconds = time / Self.nanosecondsPerSecond
    put(seconds / 3600, digits: 2, at: 11)
    put(seconds / 60 % 60, digits: 2, at: 14)
    put(seconds % 60, digits: 2, at: 17)
    put(time % Self.nanosecondsPerSecond / 1000, digits: 6, at: 20)
    return 27
  }
}

private func floorDivide(_ value: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
  let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
  return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
}

/// A date of the Gregorian calendar, computed by Howard Hinnant's `civil_from_days`
/// (<https://howardhinnant.github.io/date_algorithms.html>).
private struct CivilDate {
  var year: Int64
  var month: Int64
  var day: Int64

  init(daysSinceEpoch: Int64) {
    let (era, dayOfEra) = floorDivide(daysSinceEpoch + 719_468, 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153  // 0 is March
    day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }
}
