import Advertising

/// The simulated controller: puts the adverts that it receives into HCI events.
///
/// Reports wait at most 5 ms for others to share their event. An extended advert that is too long
/// for one report is sent in fragments, 0.5 ms apart, between which other events may stand; what
/// comes while four such adverts are under way is lost, as a controller's memory is small.
struct Controller {
  /// A packet with the time, in microseconds, at which the host gets it.
  struct Packet {
    var time: Int64
    var bytes: [UInt8]
    var sightings: [TrueSighting]
  }

  private let isExtended: Bool
  private let maximumReports: Int
  private var reports: [UInt8] = []
  private var count = 0
  private var sightings: [TrueSighting] = []
  private var deadline: Int64 = .max
  private var fragments: [Packet] = []
  private var underWay: [(address: BluetoothAddress, end: Int64)] = []

  private static let longestWait: Int64 = 5_000
  private static let fragmentGap: Int64 = 500
  private static let maximumUnderWay = 4
  /// Parameter_Total_Length, without Subevent_Code and Num_Reports.
  private static let maximumBytes = 253

  init(_ format: Scenario.ReportFormat) {
    isExtended = format.isExtended
    maximumReports = format.reportsPerEvent
  }

  /// The time of its next packet, if it receives nothing more.
  var next: Int64 { min(deadline, fragments.first?.time ?? .max) }

  /// Receives an advert.
  ///
  /// - Returns: The packets that are ready because of it.
  mutating func receive(_ report: AirReport, at time: Int64) -> [Packet] {
    if isExtended, report.data.count > AirReport.longestFragment {
      split(report, at: time)
      return []
    }
    let bytes = report.bytes(isExtended: isExtended)
    var ready: [Packet] = []
    if reports.count + bytes.count > Self.maximumBytes { ready.append(flush(at: time)) }
    reports += bytes
    count += 1
    if let sighting = report.sighting { sightings.append(sighting) }
    if deadline == .max { deadline = time + Self.longestWait }
    if count == maximumReports { ready.append(flush(at: time)) }
    return ready
  }

  /// Removes and returns the packet that ``next`` announced.
  mutating func removeNext() -> Packet? {
    guard next < .max else { return nil }
    return deadline == next ? flush(at: deadline) : fragments.removeFirst()
  }

  private mutating func flush(at time: Int64) -> Packet {
    let bytes = AirReport.event(reports, count: count, isExtended: isExtended)
    let packet = Packet(time: time, bytes: bytes, sightings: sightings)
    reports.removeAll(keepingCapacity: true)
    sightings.removeAll(keepingCapacity: true)
    count = 0
    deadline = .max
    return packet
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
      let bytes = AirReport.event(
        report.extendedBytes(part, status), count: 1, isExtended: true)
      let found = rest.isEmpty ? report.sighting.map { [$0] } ?? [] : []
      let place = fragments.firstIndex { $0.time > when } ?? fragments.count
      fragments.insert(Packet(time: when, bytes: bytes, sightings: found), at: place)
      when += Self.fragmentGap
    }
    underWay.append((report.address, when))
  }
}
