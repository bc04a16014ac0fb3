internal import Bytes

/// The time of a site, by the clocks of its receivers: the second of each report, and when the
/// reports of a second are complete.
///
/// The send time of a report is its time and its delay. Each receiver has a live time that advances
/// with its send times, but by 2 s at most from one report to its next, or to that of another
/// receiver. So neither a failure of the broker, after which each receiver sends what it kept, nor a
/// clock that is wrong counts as time in which the others did not report. The live time of the site
/// is the second greatest of three or more working receivers, so that one whose reports are too many
/// does not make it run ahead, and the greatest of fewer. A receiver from which alone reports come is
/// followed after some of them, and live time goes back if the others then show that they were not
/// silent. The offset of a receiver is its send time less its live time. That of the site is the
/// median of the working receivers' offsets.
struct SiteClock: Sendable, Hashable {
  /// The reports of a second, by their receivers.
  struct Second: Sendable, Hashable {
    var second: Int64
    /// The seconds without any report before it.
    var passed: Int64 = 0
    var reports: [Int: ReceiverSecond] = [:]
    /// The live time of the last of them, and their longest delay.
    fileprivate var live: Double
    fileprivate var delay = 0.0

    fileprivate init(second: Int64, live: Double) {
      self.second = second
      self.live = live
    }

    fileprivate var size: Int { reports.values.reduce(0) { $0 + $1.size } }
    /// The bytes of a second without its reports in a state.
    fileprivate static let size = 28
  }

  struct Boot: Sendable, Hashable {
    /// A receiver repeats at most 20 reports.
    fileprivate static let limit = 4
    var boot: UInt64 = 0
    var number: UInt64 = 0
  }

  struct Receiver: Sendable, Hashable {
    /// The last boots, the newest first, and the numbers of their newest reports. A receiver that has
    /// started again repeats reports from before, and after a failure of its connection once more,
    /// also after reports of the new boot.
    var boots = Array(repeating: Boot(), count: Boot.limit)
    /// The second of its newest report by its own clock, or `nil` before the first one.
    var second: Int64?
    /// The live time of the site at its newest report, and its own.
    var live = 0.0
    var ownLive = 0.0
    /// The reports since the last one of another receiver.
    var reportsAlone = 0
    /// The live time in which another receiver last showed that its own runs ahead.
    var refuted: Double?
    /// The greatest difference of send time and live time: that of a report that took the least time
    /// to arrive.
    var offset: Double?
    /// The greatest one since the renewal.
    var nextOffset: Double?
    /// The live time of the renewal, and the reports since then.
    var renewed = 0.0
    var reports = 0
    /// The seconds by which its clock is ahead of the site's, once that is sure.
    var difference: Int64 = 0
    /// The live time since when the offset contradicts the difference.
    var doubted: Double?

    /// Whether its clock seems to be behind that of the site.
    func isBehind(_ offset: Double?) -> Bool {
      doubted != nil && (self.offset ?? 0) - Double(difference) < offset ?? 0
    }

    /// Takes the boot and the number of a report, and returns whether it is new.
    mutating func isNew(_ report: ReceiverSecond) -> Bool {
      guard let place = boots.firstIndex(where: { $0.boot == report.boot }) else {
        boots.removeLast()
        boots.insert(Boot(boot: report.boot, number: report.number), at: 0)
        return true
      }
      guard second == nil || report.number > boots[place].number else { return false }
      boots[place].number = report.number
      return true
    }

    func hasReached(_ second: Int64) -> Bool {
      self.second.map { $0 - difference >= second } ?? false
    }
  }

  /// A receiver is not waited for after so many seconds of live time without a report.
  private static let absence = 10.0
  /// After a failure, receivers connect again within so many seconds.
  private static let reconnection = 20.0
  /// The least live time from one second that has not all reports to the next one.
  private static let pace = 0.5
  /// The difference of two clocks that counts, in seconds, and the time after which it is sure.
  private static let tolerance = 2.0
  private static let certainty = 10.0
  /// The seconds after which an offset is renewed, and the reports after which it is where no live
  /// time passes, since all clocks were set back. A receiver has 20 reports on their way at most.
  private static let renewal = 5.0
  private static let renewalReports = 30
  /// The reports of one receiver, without any of another one between, after which it is believed that
  /// the others are silent, and those of a receiver whose live time was refuted in the last hour.
  private static let aloneReports = 60
  private static let refutedReports = 3600
  private static let refutation = 3600.0
  /// The most seconds by which the live time of a receiver is ahead of the site's, and those from
  /// which a report of another one refutes it.
  private static let maximumLead = 120.0
  private static let lead = 5.0
  /// The most seconds that wait.
  static let maximumSeconds = 3600
  /// The bytes of a receiver in a state, and of what is there once.
  private static let receiverSize = 80 + 16 * Boot.limit
  private static let headSize = 36

  private let patience: Double
  private var receivers: [Receiver]
  private var live = 0.0
  /// The site's time less the live time.
  private var offset: Double?
  /// The last second that was taken.
  private(set) var taken: Int64?
  /// The live time in which it was taken.
  private var takenLive = 0.0
  /// The seconds that wait, in order.
  private var waiting: [Second] = []
  /// The bytes of the reports that wait.
  private var reportsSize = 0
  /// The most bytes of what waits.
  var maximumSize: Int

  init(receivers: Int, patience: Double, maximumSize: Int = 4_000_000) {
    self.receivers = Array(repeating: Receiver(), count: receivers)
    self.patience = patience
    self.maximumSize = maximumSize
  }

  /// The bytes of the state.
  var size: Int { Self.headSize + Self.receiverSize * receivers.count + waitingSize }

  /// The bytes of what waits, of which ``maximumSize`` may be.
  var waitingSize: Int { reportsSize + Second.size * waiting.count }

  /// Whether more waits than may.
  var isFull: Bool { waiting.count > Self.maximumSeconds || waitingSize > maximumSize }

  /// The last second that can be over.
  private var limit: Int64 { Int64(live + (offset ?? 0)) + 3 }

  func difference(of receiver: Int) -> Int64 { receivers[receiver].difference }

  /// Takes a report, and returns whether it is evidence: it is neither repeated nor too late.
  mutating func receive(_ report: ReceiverSecond, of index: Int) -> Bool {
    let newest = receivers[index].boots[0]
    guard report.isValid, receivers[index].isNew(report) else { return false }
    let second = second(of: report, of: index, after: newest)
    // One of an earlier boot that is late.
    let isLate = report.boot != receivers[index].boots[0].boot
    receivers[index].second = isLate ? max(second, receivers[index].second ?? second) : second
    let sent = Double(report.time) / 1000 + report.delay
    advance(index, sent: sent, isSameBoot: report.boot == newest.boot)
    updateOffset()
    updateDifference(index, sent: sent)
    return add(report, of: index, second: second - receivers[index].difference)
  }

  /// The second of a report by the receiver's clock.
  ///
  /// A receiver reports once a second, so the number tells the second where the time agrees. The
  /// time alone would give some seconds two reports and others none: it is a little more or less
  /// than a second later each time, also where the reports are near the end of a second.
  private func second(
    of report: ReceiverSecond, of index: Int, after newest: Boot
  ) -> Int64 {
    if report.boot == newest.boot, let former = receivers[index].second,
      let steps = Int64(exactly: report.number - newest.number), steps < 1 << 32
    {
      let second = former + steps
      if (second * 1000 - 800..<second * 1000 + 1800).contains(report.time) { return second }
    }
    return report.second
  }

  /// Advances the live time by a report, and renews the receiver's offset.
  private mutating func advance(_ index: Int, sent: Double, isSameBoot: Bool) {
    var receiver = receivers[index]
    receiver.reportsAlone += 1
    // A process that has just begun may have a clock that was set back.
    let time = isSameBoot ? receiver.offset.map { sent - $0 } : nil
    for other in receivers.indices where other != index {
      let wasAlone = receivers[other].reportsAlone >= Self.aloneReports
      receivers[other].reportsAlone = 0
      guard let time, isWorking(receivers[other]),
        receivers[other].ownLive > (wasAlone ? time : max(time, live)) + Self.lead
      else { continue }
      if wasAlone {
        // The others were not silent.
        live = time
        receivers[other].ownLive = time
      }
      receivers[other].refuted = live
    }
    let greatest = receivers.lazy.filter(isWorking).reduce(live) { max($0, $1.ownLive) }
    if let offset = receiver.offset {
      let most = min(max(receiver.ownLive + 2, greatest), live + Self.maximumLead)
      receiver.ownLive = max(live, min(sent - offset, most))
    } else {
      receiver.ownLive = live
    }
    let newest = sent - receiver.ownLive
    receiver.live = live
    receivers[index] = receiver
    updateLive(index)
    receiver.live = live
    receiver.offset = max(receiver.offset ?? newest, newest)
    receiver.nextOffset = max(receiver.nextOffset ?? newest, newest)
    receiver.reports += 1
    if live - receiver.renewed >= Self.renewal || receiver.reports >= Self.renewalReports {
      receiver.offset = receiver.nextOffset
      receiver.nextOffset = newest
      receiver.renewed = live
      receiver.reports = 0
    }
    receivers[index] = receiver
  }

  private func isWorking(_ receiver: Receiver) -> Bool {
    receiver.offset != nil && live - receiver.live <= Self.absence
  }

  /// Whether another receiver showed in the last seconds of live time that this one's runs ahead.
  func isRefuted(_ index: Int, within seconds: Double = refutation) -> Bool {
    receivers[index].refuted.map { live - $0 < seconds } ?? false
  }

  /// Advances the site's live time after that of a receiver.
  private mutating func updateLive(_ index: Int) {
    let receiver = receivers[index]
    var times = [receiver.ownLive]
    for other in receivers.indices where other != index && isWorking(receivers[other]) {
      times.append(receivers[other].ownLive)
    }
    let reports = isRefuted(index) ? Self.refutedReports : Self.aloneReports
    let isAlone = receiver.reportsAlone >= reports
    times.sort(by: >)
    live = max(live, isAlone ? receiver.ownLive : times[times.count > 2 ? 1 : 0])
  }

  /// Sets the site's offset to the median, or to what is nearest to it now where two halves differ.
  private mutating func updateOffset() {
    let working = receivers.filter(isWorking)
    // A receiver that is left alone keeps the difference that the others found.
    let offsets =
      working.count == 1
      ? working.compactMap { $0.offset.map { $0 - Double(working[0].difference) } }
      : working.compactMap(\.offset).sorted()
    guard let first = offsets.first else { return }
    let former = offset ?? first
    offset = min(max(former, offsets[(offsets.count - 1) / 2]), offsets[offsets.count / 2])
    // The clocks were set back. Only the transitions in the seconds that come again can have the
    // identity of former ones.
    if let taken, taken > limit + Int64(Self.certainty) {
      self.taken = limit - 3
      waiting = []
      reportsSize = 0
    }
  }

  private mutating func updateDifference(_ index: Int, sent: Double) {
    guard let offset, let own = receivers[index].offset else { return }
    let ahead = own - offset
    guard abs(ahead - Double(receivers[index].difference)) > Self.tolerance else {
      receivers[index].doubted = nil
      return
    }
    let doubted = receivers[index].doubted ?? live
    receivers[index].doubted = doubted
    // A clock that leapt and came back has its greatest offset for a few seconds more.
    guard live - doubted >= Self.certainty,
      own - (sent - receivers[index].ownLive) <= Self.tolerance
    else { return }
    receivers[index].difference = abs(ahead) > Self.tolerance ? Int64(ahead.rounded()) : 0
    receivers[index].doubted = nil
    // Its reports that wait are of the wrong seconds if its clock was ahead.
    let limit = limit
    for place in waiting.indices where waiting[place].second > limit {
      remove(index, at: place)
    }
    waiting.removeAll { $0.reports.isEmpty }
  }

  private mutating func remove(_ index: Int, at place: Int) {
    guard let report = waiting[place].reports.removeValue(forKey: index) else { return }
    reportsSize -= report.size
  }

  private mutating func add(_ report: ReceiverSecond, of index: Int, second: Int64) -> Bool {
    // One whose clock seems to be behind is too late, also before the first second. One that is far
    // ahead has no place among the seconds that wait.
    let waits = isRefuted(index) ? 0 : Int64(Self.maximumSeconds)
    guard second > taken ?? .min, !receivers[index].isBehind(offset),
      second <= max(limit, (taken ?? limit) + waits)
    else { return false }
    let place = (waiting.lastIndex { $0.second < second } ?? -1) + 1
    if place == waiting.count || waiting[place].second != second {
      waiting.insert(Second(second: second, live: live), at: place)
    }
    remove(index, at: place)
    waiting[place].reports[index] = report
    waiting[place].live = live
    waiting[place].delay = max(waiting[place].delay, report.delay)
    reportsSize += report.size
    while waitingSize > maximumSize, let last = waiting.last, last.second > limit {
      reportsSize -= last.size
      waiting.removeLast()
    }
    return true
  }

  /// Takes the oldest second that waits, if its reports are complete.
  mutating func next() -> Second? {
    guard let first = waiting.first, isComplete(first) else { return nil }
    return take()
  }

  /// Takes the oldest second that waits.
  mutating func take() -> Second? {
    guard !waiting.isEmpty else { return nil }
    var first = waiting.removeFirst()
    reportsSize -= first.size
    first.passed = taken.map { first.second - $0 - 1 } ?? 0
    taken = first.second
    takenLive = live
    return first
  }

  private func isComplete(_ second: Second) -> Bool {
    if isFull { return true }
    guard second.second <= limit else { return false }
    // Reports with a delay waited for a connection, which other receivers may not have yet.
    let extra = min(second.delay, Self.reconnection)
    // A receiver that sends what it kept has the next report soon. A report of a second that was to
    // come says nothing of how long those of the others are late.
    let since = max(second.live, Double(second.second) - (offset ?? 0))
    let isOver = live - since > patience + extra && live - takenLive > Self.pace
    return isOver
      || receivers.allSatisfy {
        $0.hasReached(second.second) || $0.isBehind(offset) || live - $0.live > Self.absence + extra
      }
  }
}

extension ReceiverSecond {
  /// Whether its numbers are in the ranges of reports.
  fileprivate var isValid: Bool {
    (0..<10_000_000_000_000).contains(time) && (0...1e7).contains(delay)
      && (0.001...3600).contains(seconds)
  }

  /// The bytes in a state of a clock.
  fileprivate var size: Int { 49 + receiver.utf8.count + 34 * receptions.count }
}

// The state is exact; see SiteFusion+State.swift.

extension SiteClock {
  func encode(into state: inout StateWriter) {
    state.put(live)
    state.put(offset)
    state.put(taken)
    state.put(takenLive)
    for receiver in receivers { receiver.encode(into: &state) }
    state.put(UInt32(waiting.count))
    for second in waiting {
      state.put(second.second)
      state.put(second.live)
      state.put(second.delay)
      state.put(UInt32(second.reports.count))
      for (index, report) in second.reports.sorted(by: { $0.key < $1.key }) {
        state.put(UInt16(clamping: index))
        report.encode(into: &state)
      }
    }
  }

  /// Reads a state, in which the receivers have other indices, or `nil` where the site has them no
  /// more.
  mutating func read(
    _ cursor: inout ByteCursor, receivers indices: [Int?], version: UInt8
  ) throws(ParseError) {
    live = try cursor.readDouble()
    offset = try cursor.readOptionalDouble()
    taken = try cursor.readOptionalInteger()
    takenLive = try cursor.readDouble()
    guard [live, offset ?? 0, takenLive].allSatisfy({ abs($0) < Self.longest }),
      abs(taken ?? 0) < Int64(Self.longest)
    else { throw ParseError(.invalid("not a time"), at: cursor.offset) }
    for index in indices {
      let receiver = try Receiver(reading: &cursor, version: version)
      if let index { receivers[index] = receiver }
    }
    waiting = []
    reportsSize = 0
    for _ in 0..<(try cursor.readCount(ofBytes: 28)) {
      var second = Second(second: try cursor.readTime(), live: 0)
      second.live = try cursor.readDouble()
      second.delay = try cursor.readDouble()
      for _ in 0..<(try cursor.readCount(ofBytes: 49)) {
        let index = Int(try cursor.readLittleEndian(UInt16.self))
        let report = try ReceiverSecond(reading: &cursor)
        guard indices.indices.contains(index), report.isValid else {
          throw ParseError(.invalid("not a report"), at: cursor.offset)
        }
        if let index = indices[index] { second.reports[index] = report }
      }
      guard second.second > waiting.last?.second ?? .min else {
        throw ParseError(.invalid("seconds that are not in order"), at: cursor.offset)
      }
      reportsSize += second.size
      if !second.reports.isEmpty { waiting.append(second) }
    }
  }

  /// Times and seconds below this bound cannot overflow.
  fileprivate static let longest = 1e12
}

extension SiteClock.Receiver {
  fileprivate func encode(into state: inout StateWriter) {
    for boot in boots {
      state.put(boot.boot)
      state.put(boot.number)
    }
    state.put(second)
    state.put(live)
    state.put(offset)
    state.put(nextOffset)
    state.put(renewed)
    state.put(UInt32(clamping: reports))
    state.put(difference)
    state.put(doubted)
    state.put(ownLive)
    state.put(UInt32(clamping: reportsAlone))
    state.put(refuted)
  }

  fileprivate init(reading cursor: inout ByteCursor, version: UInt8) throws(ParseError) {
    for index in boots.indices {
      boots[index].boot = try cursor.readLittleEndian(UInt64.self)
      boots[index].number = try cursor.readLittleEndian(UInt64.self)
    }
    second = try cursor.readOptionalInteger()
    live = try cursor.readDouble()
    offset = try cursor.readOptionalDouble()
    nextOffset = try cursor.readOptionalDouble()
    renewed = try cursor.readDouble()
    reports = Int(try cursor.readLittleEndian(UInt32.self))
    difference = try cursor.readTime()
    doubted = try cursor.readOptionalDouble()
    ownLive = live
    if version > SiteFusion.formerVersion {
      ownLive = try cursor.readDouble()
      reportsAlone = Int(try cursor.readLittleEndian(UInt32.self))
      refuted = try cursor.readOptionalDouble()
    }
    let times = [
      live, ownLive, offset ?? 0, nextOffset ?? 0, renewed, doubted ?? 0, refuted ?? 0,
      Double(second ?? 0),
    ]
    guard times.allSatisfy({ abs($0) < SiteClock.longest }) else {
      throw ParseError(.invalid("not a time"), at: cursor.offset)
    }
  }
}

extension StateWriter {
  fileprivate mutating func put(_ number: Double?) { put(number ?? .nan) }
  fileprivate mutating func put(_ number: Int64?) { put(number ?? .min) }
}

extension ByteCursor {
  @_lifetime(self: copy self)
  fileprivate mutating func readOptionalDouble() throws(ParseError) -> Double? {
    let number = try readDouble()
    return number.isNaN ? nil : number
  }

  @_lifetime(self: copy self)
  fileprivate mutating func readOptionalInteger() throws(ParseError) -> Int64? {
    let number = try readLittleEndian(Int64.self)
    return number == .min ? nil : number
  }

  @_lifetime(self: copy self)
  fileprivate mutating func readTime() throws(ParseError) -> Int64 {
    let start = offset
    let time = try readLittleEndian(Int64.self)
    guard abs(Double(time)) < SiteClock.longest else {
      throw ParseError(.invalid("not a time"), at: start)
    }
    return time
  }
}
