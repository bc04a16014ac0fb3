package import Clocks
internal import HeapModule

/// The states of circles: a state machine that receives fixes and times, and returns the changes.
///
/// A boundary counts as crossed by one of four rules, each with a hysteresis from the accuracy of
/// the fixes (the radius that contains the place with 68 %):
///
/// - clear: two fixes lie beyond it by three times their accuracy and by at least 180 m, which is
///   six times the jitter of 30 m that any receiver may have, whatever accuracy it states;
/// - travel: the fixes since the first one beyond it, at least three, move at 0.5 m/s or more. With
///   the way to the boundary, which counts e⁸ at most, they are e¹⁶ times as likely as the jitter
///   of a still receiver (``JitterTest``). The last one lies beyond by its accuracy, and the mean
///   of the last minute by 1.5 times the accuracy;
/// - stay: the mean of the fixes since then, at least sixteen in at least 60 s, lies beyond by
///   twice their accuracy, and by seven standard errors. In addition, either the fixes are e⁴⁰
///   times as likely as jitter, or the mean lies beyond by four standard errors of jitter that
///   lasts five minutes;
/// - silence: the last fix lies beyond by twice its accuracy, and none came since for 300 s or
///   three intervals of fixes. This serves sources that report only movements.
///
/// The first state is determined by the same rules, by silence after ten seconds, and by the fixes
/// of eight seconds whose mean lies beyond by 1.5 times their accuracy, until a stay corrects it.
///
/// A decided circle lies in a heap by the reading of an ``Odometer`` at which it can change. A fix
/// costs one look at each circle whose reading is reached, and at each open circle: not determined,
/// or with fixes on the other side.
package struct GeofenceMonitor: Sendable {
  /// The most circles at once.
  package static let maximumRegions = 16384
  /// The age of a fix without loss of accuracy, in seconds.
  private static let freeAge = 2.0
  /// The best accuracy that is believed, in meters: receivers do not know their whole error.
  private static let bestAccuracy = 3.0
  /// The wait, in seconds, after which one fix determines a first state.
  private static let firstSilence = 10.0
  /// The least such wait for a crossing, in seconds: longer than most tunnels take.
  private static let silence = 300.0

  /// The number of looks at circles, each with one geodesic.
  package private(set) var looks = 0

  private struct Record: Sendable {
    var region: CircularRegion
    var state: GeofenceState
    var isDetermined = false
    /// Whether a few fixes determined the state without confirmation. A stay can correct it.
    var isProvisional = false
    var since: MonotonicTime?
    /// `nil` while the state is decided and no fix contradicts it.
    var evidence: GeofenceEvidence?
    /// Unique among circles, including previous ones at this place; 0 after removal.
    var serial: UInt32
  }

  /// A circle that needs no look before a reading of the odometer; each fix looks at open ones.
  private struct Entry: Comparable, Sendable {
    var reading: Double
    var place: Int32
    var serial: UInt32

    static func < (left: Entry, right: Entry) -> Bool {
      (left.reading, left.place, left.serial) < (right.reading, right.place, right.serial)
    }
  }

  private typealias Decision = (
    time: MonotonicTime, side: GeofenceState, rule: GeofenceTransition.Rule
  )

  private var records: [Record] = []
  private var vacant: [Int32] = []
  private var places: [String: Int32] = [:]
  private var serials: UInt32 = 0
  private var odometer = Odometer()
  private var jitterTest = JitterTest()
  private var resting = Heap<Entry>()
  private var open: [Entry] = []
  /// The evidence of all fixes about the circles with provisional states.
  private var provisional: [Int32: GeofenceEvidence] = [:]
  private var now: MonotonicTime?
  private var last: (time: MonotonicTime, place: Coordinate)?
  private var deadline: MonotonicTime?

  package init() {}

  // MARK: Circles

  /// Adds a circle with an assumed state, such as that before a restart, or replaces one.
  ///
  /// The first determination is always reported, after a crossing if it refutes the assumption.
  ///
  /// - Throws: ``GeofenceError/tooMany(limit:)``.
  package mutating func add(
    _ region: CircularRegion, assuming state: GeofenceState = .unknown
  ) throws(GeofenceError) {
    if places[region.identifier] == nil, places.count >= Self.maximumRegions {
      throw .tooMany(limit: Self.maximumRegions)
    }
    remove(region.identifier)
    serials &+= 1
    let record = Record(region: region, state: state, serial: serials)
    let place: Int32
    if let free = vacant.popLast() {
      place = free
      records[Int(place)] = record
    } else {
      place = Int32(records.count)
      records.append(record)
    }
    places[region.identifier] = place
    open.append(Entry(reading: 0, place: place, serial: serials))
  }

  @discardableResult
  package mutating func remove(_ identifier: String) -> CircularRegion? {
    guard let place = places.removeValue(forKey: identifier) else { return nil }
    records[Int(place)].serial = 0
    records[Int(place)].evidence = nil
    provisional[place] = nil
    vacant.append(place)
    tidy()
    return records[Int(place)].region
  }

  /// Drops the entries of removed circles once they outnumber the others.
  private mutating func tidy() {
    if open.count > 2 * places.count + 64 {
      open.removeAll { records[Int($0.place)].serial != $0.serial }
    }
    guard resting.count > 2 * places.count + 64 else { return }
    resting = Heap(resting.unordered.filter { records[Int($0.place)].serial == $0.serial })
  }

  package func status(of identifier: String) -> GeofenceStatus? {
    guard let place = places[identifier] else { return nil }
    let record = records[Int(place)]
    return GeofenceStatus(
      state: record.state, isDetermined: record.isDetermined, since: record.since)
  }

  // MARK: Fixes and time

  /// Advances to a moment, and returns the changes that the absence of fixes decided before it.
  package mutating func advance(to time: MonotonicTime) -> [GeofenceTransition] {
    now = max(now ?? time, time)
    guard let due = deadline, let now, due <= now else { return [] }
    let latest = last?.time
    let transitions = look { record in
      guard let evidence = record.evidence, let side = evidence.sureSideOfLast,
        evidence.last.time == latest
      else { return nil }
      let end = Self.end(of: evidence, isDetermined: record.isDetermined)
      return end <= now ? (end, side, .silence) : nil
    }
    return Self.ordered(transitions)
  }

  /// Returns the time at which ``advance(to:)`` next has a report if no fix comes before.
  package func nextDeadline() -> MonotonicTime? { deadline }

  /// Receives a fix, advances to its time, and returns all changes.
  ///
  /// A fix that is not later than the latest one, or has no valid accuracy, is ignored. A fix older
  /// than the last moment loses as much accuracy as the receiver may have moved since.
  package mutating func receive(_ fix: Fix) -> [GeofenceTransition] {
    guard fix.horizontalAccuracy >= 0, fix.horizontalAccuracy < .infinity else { return [] }
    if let last, fix.time <= last.time { return [] }
    let transitions = advance(to: fix.time)
    let moment = now ?? fix.time
    let age = moment.seconds(since: fix.time)
    let accuracy =
      max(fix.horizontalAccuracy, Self.bestAccuracy)
      + (age > Self.freeAge ? age * LocationDemand.topSpeed : 0)
    let interval = last.map { fix.time.seconds(since: $0.time) } ?? 0
    last = (fix.time, fix.place)
    odometer.move(to: fix.place)
    let way = jitterTest.way
    let againstJitter = jitterTest.add(fix.place, at: fix.time, accuracy: accuracy)
    let speed = jitterTest.speed
    wake()
    looks += open.count + provisional.count
    func look(at region: CircularRegion) -> GeofenceEvidence.Look {
      GeofenceEvidence.Look(
        time: fix.time, interval: interval, distanceOutside: region.distanceOutside(fix.place),
        accuracy: accuracy, againstJitter: againstJitter, speed: speed, way: way)
    }
    let corrections = confirm(at: moment, look)
    let decided = self.look { record in
      let look = look(at: record.region)
      if record.evidence == nil { record.evidence = GeofenceEvidence(look) }
      var decision = record.evidence?.add(look)
      // Against a provisional state, a path must lead farther than jitter that resembles one.
      if decision?.rule == .travel, record.isProvisional,
        abs(look.distanceOutside) < 2 * JitterTest.jitter
      {
        decision = nil
      }
      // An assumption needs no few fixes to hold, and a few do not refute it.
      guard decision == nil, record.state == .unknown, let side = record.evidence?.firstState
      else {
        if let rule = decision?.rule, rule != .stay { record.isProvisional = false }
        return decision.map { (moment, $0.side, $0.rule) }
      }
      record.isProvisional = true
      return (moment, side, .stay)
    }
    return transitions + Self.ordered(corrections + decided)
  }

  /// Confirms or corrects the provisional states by the rules.
  private mutating func confirm(
    at moment: MonotonicTime, _ look: (CircularRegion) -> GeofenceEvidence.Look
  ) -> [GeofenceTransition] {
    var transitions: [GeofenceTransition] = []
    for place in provisional.keys.sorted() {
      let index = Int(place)
      let decision = provisional[place]?.add(look(records[index].region))
      guard records[index].isProvisional, let decision else {
        if !records[index].isProvisional { provisional[place] = nil }
        continue
      }
      let evidence = provisional.removeValue(forKey: place)
      if decision.side != records[index].state, decision.rule == .stay {
        records[index].evidence = evidence
        transitions += settle(index, (moment, decision.side, .stay))
      }
      records[index].isProvisional = false
    }
    return transitions
  }

  /// Opens the circles whose reading is reached.
  private mutating func wake() {
    while let entry = resting.min, entry.reading <= odometer.reading + 1 {
      resting.removeMin()
      open.append(entry)
    }
  }

  /// Looks at each open circle, and closes the decided ones without evidence for the other state.
  private mutating func look(_ decide: (inout Record) -> Decision?) -> [GeofenceTransition] {
    var transitions: [GeofenceTransition] = []
    deadline = nil
    var kept = 0
    for index in open.indices {
      var entry = open[index]
      let place = Int(entry.place)
      guard records[place].serial == entry.serial else { continue }
      let decision = decide(&records[place])
      // A circle that was added after the last fix has no evidence yet.
      let distance = records[place].evidence?.last.distanceOutside
      if let decision { transitions += settle(place, decision) }
      let record = records[place]
      if let distance, record.isDetermined, record.evidence?.side ?? record.state == record.state {
        records[place].evidence = nil
        entry.reading = odometer.key(margin: abs(distance))
        resting.insert(entry)
        continue
      }
      if let evidence = record.evidence, evidence.sureSideOfLast != nil {
        let end = Self.end(of: evidence, isDetermined: record.isDetermined)
        deadline = min(deadline ?? end, end)
      }
      open[kept] = entry
      kept += 1
    }
    open.removeLast(open.count - kept)
    tidy()
    return transitions
  }

  /// Returns the time at which a fix without a successor decides.
  private static func end(of evidence: GeofenceEvidence, isDetermined: Bool) -> MonotonicTime {
    let seconds = isDetermined ? max(silence, 3 * evidence.last.interval) : firstSilence
    return evidence.last.time.advanced(by: Int64(min(seconds, 1e9) * 1e9))
  }

  private mutating func settle(_ place: Int, _ decision: Decision) -> [GeofenceTransition] {
    let record = records[place]
    guard let evidence = record.evidence else { return [] }
    guard !record.isDetermined || decision.side != record.state else {
      // The evidence for the other side is outweighed.
      records[place].evidence = nil
      return []
    }
    let reason = GeofenceTransition.Reason(
      rule: decision.rule, distanceOutside: evidence.last.distanceOutside,
      accuracy: evidence.last.accuracy, dwell: decision.time.seconds(since: evidence.start),
      fixes: evidence.fixes)
    var changes: [GeofenceTransition.Change] = []
    let isCorrection = record.isDetermined && decision.rule == .stay && record.isProvisional
    if record.state != .unknown, record.state != decision.side, !isCorrection {
      changes.append(decision.side == .inside ? .enter : .exit)
    }
    if !record.isDetermined || isCorrection { changes.append(.determined(decision.side)) }
    if record.isDetermined {
      records[place].isProvisional = false
    } else if record.isProvisional {
      provisional[Int32(place)] = evidence
    }
    records[place].state = decision.side
    records[place].isDetermined = true
    records[place].evidence = nil
    if record.state != decision.side || record.since == nil { records[place].since = decision.time }
    return changes.map { change in
      GeofenceTransition(
        change: change, time: decision.time, region: record.region.identifier,
        previous: record.state, reason: reason)
    }
  }

  private static func ordered(_ transitions: [GeofenceTransition]) -> [GeofenceTransition] {
    // The sort is stable: a crossing stays before its determination.
    transitions.sorted { ($0.time, $0.region) < ($1.time, $1.region) }
  }

  // MARK: The nearest boundary

  /// Returns the distance in meters from the last fix to the nearest boundary; `nil` if unknown. It
  /// is 0 while a circle is open, and may be too small.
  package mutating func nearestBoundary() -> Double? {
    guard let last, !places.isEmpty else { return nil }
    open.removeAll { records[Int($0.place)].serial != $0.serial }
    guard open.isEmpty else { return 0 }
    var looked: [Entry] = []
    var nearest = Double.infinity
    while var entry = resting.min, looked.count < 16 {
      let record = records[Int(entry.place)]
      guard record.serial == entry.serial else {
        resting.removeMin()
        continue
      }
      guard entry.reading - odometer.reading < nearest else { break }
      resting.removeMin()
      looks += 1
      let distance = abs(record.region.distanceOutside(last.place))
      nearest = min(nearest, distance)
      entry.reading = max(entry.reading, odometer.key(margin: distance))
      looked.append(entry)
    }
    if let next = resting.min { nearest = min(nearest, max(0, next.reading - odometer.reading)) }
    for entry in looked { resting.insert(entry) }
    return nearest
  }
}

package struct GeofenceStatus: Sendable, Hashable {
  package let state: GeofenceState
  /// Whether the state was determined, not only assumed.
  package let isDetermined: Bool
  /// The monotonic time of the last change; `nil` if the state is only assumed.
  package let since: MonotonicTime?
}
