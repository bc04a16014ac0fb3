import Advertising

/// A simulated controller, which puts received adverts into HCI events.
///
/// A report waits at most 5 ms for others to share its event. An extended advert that is too long
/// for one report is sent in fragments, 0.5 ms apart, with other events possibly between them. At
/// most four such adverts are sent at a time; further ones are lost.
struct Controller {
  /// A packet and the time, in microseconds, at which the host receives it.
  struct Packet {
    var time: Int64
    var bytes: [UInt8]
    var reports: [AirReport]
  }

  private let isExtended: Bool
  private let maximumReports: Int
  private var bytes: [UInt8] = []
  private var reports: [AirReport] = []
  private var deadline: Int64 = .max
  private var fragments: [Packet] = []
  private var underWay: [(address: BluetoothAddress, end: Int64)] = []

  private static let longestWait: Int64 = 5_000
  private static let fragmentGap: Int64 = 500
  private static let maximumUnderWay = 4
  private static let maximumBytes = 253

  init(_ format: Scenario.ReportFormat) {
    isExtended = format.isExtended
    maximumReports = format.reportsPerEvent
  }

  var next: Int64 { min(deadline, fragments.first?.time ?? .max) }

  mutating func receive(_ report: AirReport, at time: Int64) -> [Packet] {
    if isExtended, report.data.count > AirReport.longestFragment {
      split(report, at: time)
      return []
    }
    let more = report.bytes(isExtended: isExtended)
    var ready: [Packet] = []
    if bytes.count + more.count > Self.maximumBytes { ready.append(flush(at: time)) }
    bytes += more
    reports.append(report)
    if deadline == .max { deadline = time + Self.longestWait }
    if reports.count == maximumReports { ready.append(flush(at: time)) }
    return ready
  }

  mutating func removeNext() -> Packet? {
    guard next < .max else { return nil }
    return deadline == next ? flush(at: deadline) : fragments.removeFirst()
  }

  private mutating func flush(at time: Int64) -> Packet {
    let event = AirReport.event(bytes, count: reports.count, isExtended: isExtended)
    defer {
      bytes.removeAll(keepingCapacity: true)
      reports.removeAll(keepingCapacity: true)
      deadline = .max
    }
    return Packet(time: time, bytes: event, reports: reports)
  }

  private mutating func split(_ report: AirReport, at time: Int64) {
    underWay.removeAll { $0.end < time }
    guard underWay.count < Self.maximumUnderWay,
      !underWay.contains(where: { $0.address == report.address })
    else { return }
    var when = time
    var rest = report.data[...]
    while !rest.isEmpty {
      let part = rest.prefix(AirReport.longestFragment)
      rest = rest.dropFirst(part.count)
      let status: AirReport.DataStatus = rest.isEmpty ? .complete : .moreToCome
      let event = AirReport.event(report.extendedBytes(part, status), count: 1, isExtended: true)
      let place = fragments.firstIndex { $0.time > when } ?? fragments.count
      fragments.insert(
        Packet(time: when, bytes: event, reports: rest.isEmpty ? [report] : []), at: place)
      when += Self.fragmentGap
    }
    underWay.append((report.address, when))
  }
}
