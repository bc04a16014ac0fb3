import Advertising
import Dispatch
import Glibc
import RegionStorage
import Regions
import Scanning
import Synchronization
import TestSupport

// Uses a store as hard as it can until it is killed, and writes down what it does: one write(2) a line.
//
//   region-store-torture STORE LOG SEED [drain | hold | full]
//
// s NAME VALUE TOKEN   a region found on opening: its major, and the token of its last change
// q TOKEN SERIAL       an event found pending on opening
// S                    opened; all that was found stands above
// p NAME VALUE         a region is going to be put; P when that has returned
// r NAME               a region is going to be removed; R when that has returned
// c NAME TOKEN …       changes are going to be recorded in one call; C NAME TOKEN SERIAL … when they were
// d TOKEN SERIAL       an event is delivered
// m TOKEN              its mark was made
// X                    the end, by itself
@main
struct Torture {
  let store: RegionStore
  let log: LogFile
  var random: SplitMix64
  /// Tokens are not used again by another life.
  var token: Int64
  /// Two deliverers, so that marks come out of order.
  let deliverers = [DispatchQueue(label: "even"), DispatchQueue(label: "odd")]
  /// How many events may be under way.
  let room = DispatchSemaphore(value: 64)
  /// Events that are delivered late.
  var late: [StoredEvent] = []

  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 4, let seed = UInt64(arguments[3]) else { exit(64) }
    let mode = arguments.count > 4 ? arguments[4] : ""
    let log = LogFile(arguments[2])
    let store: RegionStore
    do {
      store = try RegionStore(path: arguments[1], synced: seed % 8 == 0)
    } catch {
      log.write("E \(error)")
      exit(1)
    }
    for remark in store.remarks { log.write("! \(remark)") }
    switch mode {
    case "hold":
      log.write("S")
      while true { sleep(1) }
    case "full":
      try fill(store)
    default:
      var torture = Torture(
        store: store, log: log, random: SplitMix64(seed: seed), token: Int64(seed) * 1_000_000)
      torture.tellWhatWasFound()
      if mode == "drain" { exit(0) }
      while true { try torture.step() }
    }
  }

  mutating func tellWhatWasFound() {
    for region in store.regions {
      log.write(
        "s \(region.region.identifier) \(region.region.constraint.major ?? 0) "
          + "\(Int64(region.silenceLimit ?? 0))")
    }
    let pending = store.pending
    for event in pending { log.write("q \(event.transition.time.nanoseconds) \(event.serial)") }
    log.write("S")
    for event in pending { deliver(event) }
    for deliverer in deliverers { deliverer.sync {} }
    if CommandLine.arguments.last == "drain" { log.write("X") }
  }

  mutating func step() throws {
    let name = "region-\(random.next() % 48)"
    let key = StoredRegion.Key(identifier: name)
    switch random.next() % 10 {
    case 0, 1:
      token += 1
      let value = UInt16(truncatingIfNeeded: token % 50000)
      let region = MonitoredRegion(
        identifier: name,
        constraint: BeaconConstraint(uuid: ProximityUUID(high: 1, low: 2), major: value))
      log.write("p \(name) \(value)")
      try store.put(StoredRegion(region))
      log.write("P \(name) \(value)")
    case 2:
      log.write("r \(name)")
      try store.remove(key)
      log.write("R \(name)")
    default:
      try change()
    }
  }

  mutating func change() throws {
    var changes: [StoredChange] = []
    // Now and then more than fits into one page, which the kernel does not write at once.
    let count = random.next() % 16 == 0 ? 20 : Int(random.next() % 3) + 1
    for _ in 0..<count {
      token += 1
      let name = "region-\(random.next() % 48)"
      let time = MonotonicTime(nanoseconds: token)
      let state = random.next() % 2 == 0 ? RegionState.inside : .outside
      let transition = RegionTransition(
        state == .inside ? .enter : .exit, at: time, region: name, previous: .unknown,
        reason: RegionTransition.Reason(
          .sighting, lastSighting: nil, samples: 1, exitTimeout: nil, interval: nil, loss: nil))
      changes.append(
        StoredChange(
          StoredRegion.Key(identifier: name), state: state, at: time, silenceLimit: Double(token),
          event: transition))
    }
    log.write(
      "c" + changes.map { " \($0.key.identifier) \($0.time.nanoseconds)" }.joined())
    let events = try store.record(changes)
    log.write(
      "C"
        + events.map { " \($0.key.identifier) \($0.transition.time.nanoseconds) \($0.serial)" }
        .joined())
    for event in events {
      if random.next() % 16 == 0 { late.append(event) } else { deliver(event) }
    }
    if late.count > 40 {
      for event in late.shuffled(using: &random) { deliver(event) }
      late = []
    }
  }

  func deliver(_ event: StoredEvent) {
    room.wait()
    let name = event.transition.time.nanoseconds
    deliverers[Int(name & 1)].async { [store, log, room] in
      let (told, marked) = (Array("d \(name) \(event.serial)\n".utf8), Array("m \(name)\n".utf8))
      log.write(told)
      store.delivered(event.serial)
      log.write(marked)
      room.signal()
    }
  }

  /// Runs into a limit on the file's length and on again: exits with 0 if all that it was told was so.
  static func fill(_ store: RegionStore) throws {
    signal(SIGXFSZ, SIG_IGN)
    func region(_ name: Int) -> StoredRegion {
      StoredRegion(
        MonitoredRegion(
          identifier: "full-\(name)",
          constraint: BeaconConstraint(uuid: ProximityUUID(high: 1, low: 2))))
    }
    var kept = 0
    var failures = 0
    for round in 0..<3 {
      var limit = rlimit(rlim_cur: rlim_t(2000 * (round + 1) + 77), rlim_max: .max)
      // The structure outlives the calls.
      guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else {
        exit(2)
      }
      while true {
        do {
          try store.put(region(kept))
          kept += 1
        } catch {
          failures += 1
          guard "\(error)".contains("pwrite failed with errno 27") else { exit(3) }
          break
        }
      }
      guard store.regions.count == kept else { exit(4) }
      limit.rlim_cur = .max
      guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else {
        exit(2)
      }
      try store.put(region(kept))
      kept += 1
    }
    print(kept, failures)
    exit(0)
  }
}

/// A log that is whole up to the last line however its writer ends.
final class LogFile: Sendable {
  private let descriptor: Int32

  init(_ path: String) {
    descriptor = unsafe open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    if descriptor < 0 { exit(73) }
  }

  func write(_ line: String) {
    write(Array((line + "\n").utf8))
  }

  func write(_ bytes: [UInt8]) {
    // The array outlives the call.
    let count = unsafe Glibc.write(descriptor, bytes, bytes.count)
    if count != bytes.count { exit(74) }
  }
}
