import Dispatch
import Glibc
import Storage
import TestSupport

// Uses a store as hard as it can until it is killed, and records what it does, a line each.
//
//   storage-torture STORE LOG SEED [MODE]
//
// s NAME VALUE TOKEN   a registration found on opening: its definition, and the token of its last state
// q TOKEN SERIAL       an undelivered event found on opening
// S                    opened; all that was found stands above
// p NAME VALUE         a registration is going to be stored; P when that has returned
// r NAME               a registration is going to be removed; R when that has returned
// c NAME TOKEN …       states with events are going to be stored in one write; C NAME TOKEN SERIAL … when they were
// d TOKEN SERIAL       an event is delivered
// m TOKEN              its mark was made
// X                    the end, by itself
//
// MODE is one of these, or nothing:
//
//   drain   delivers what was found, and ends
//   hold    holds the store, and does nothing
//   full    runs into a limit of the files' length and on again; prints how much was stored, and the failures
//   slow    prints how long calls take, in µs, while a sync takes 2 s, and the transactions of 1,000 writes
//   dies    delivers an event while a sync takes 2 s, and kills itself
//   power   stores events until it is killed
//   nobody  opens the store as the user nobody, and prints the error
//   history uses a history instead: HistoryTorture.swift
//   faults  does so on a disk that may fail
@main
struct Torture {
  let store: Store
  let log: LogFile
  var random: SplitMix64
  /// Tokens are not used again by another life.
  var token: Int64
  /// Delivers the events of the group in their order.
  let deliverer = DispatchQueue(label: "deliverer")
  /// How many events may be under way.
  let room = DispatchSemaphore(value: 64)

  static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count >= 4, let seed = UInt64(arguments[3]) else { exit(64) }
    let mode = arguments.count > 4 ? arguments[4] : ""
    do throws(StorageError) {
      switch mode {
      case "full": try fill(open(arguments[1]))
      case "slow", "dies": try useSlowDisk(open(arguments[1]), dies: mode == "dies")
      case "power":
        try store(open(arguments[1]))
      case "nobody":
        guard seteuid(65534) == 0 else { exit(77) }
        _ = try open(arguments[1])
      case "faults": try HistoryTorture.live(withFaults: arguments[1], LogFile(arguments[2]), seed)
      case "history": try HistoryTorture.live(arguments[1], LogFile(arguments[2]), seed)
      default: try live(arguments, seed, mode)
      }
    } catch {
      print(error)
      exit(1)
    }
  }

  static func open(_ path: String) throws(StorageError) -> Store {
    let store = try Store(.file(path))
    // The database is made.
    try store.writeAndWait([])
    guard store.warnings.isEmpty else {
      print(store.warnings)
      exit(2)
    }
    return store
  }

  static func live(_ arguments: [String], _ seed: UInt64, _ mode: String) throws(StorageError) {
    let log = LogFile(arguments[2])
    let store = try open(arguments[1])
    var torture = Torture(
      store: store, log: log, random: SplitMix64(seed: seed), token: Int64(seed) * 1_000_000)
    torture.deliverWhatWasFound()
    switch mode {
    case "drain":
      store.close()
      log.write("X")
    case "hold": while true { sleep(1) }
    default: while true { try torture.step() }
    }
  }

  func deliverWhatWasFound() {
    for found in store.registrations {
      log.write(
        "s \(found.key.identifier) \(String(decoding: found.definition, as: UTF8.self)) "
          + String(decoding: found.state ?? [48], as: UTF8.self))
    }
    for event in store.undelivered {
      log.write("q \(String(decoding: event.payload, as: UTF8.self)) \(event.id)")
    }
    log.write("S")
    for event in store.undelivered { deliver(event) }
    deliverer.sync {}
  }

  mutating func step() throws(StorageError) {
    let key = key(random.next() % 48)
    let name = key.identifier
    switch random.next() % 10 {
    case 0, 1:
      token += 1
      log.write("p \(name) \(token)")
      try write([.register(.init(key: key, definition: Array("\(token)".utf8)))])
      log.write("P \(name) \(token)")
    case 2:
      log.write("r \(name)")
      try write([.remove(key)])
      log.write("R \(name)")
    default:
      try change()
    }
  }

  /// Writes changes, so that they survive the process; now and then, waits until they survive the machine.
  mutating func write(_ changes: [Store.Change]) throws(StorageError) {
    if random.next() % 8 == 0 { return try store.writeAndWait(changes) }
    guard store.write(changes) else {
      print(store.failure.map { "\($0)" } ?? "a write was refused")
      exit(3)
    }
  }

  static func entry(_ store: Store, _ key: Store.Key, _ payload: [UInt8]) -> StoredEntry {
    StoredEntry(
      id: store.nextID(), time: 0, kind: "event",
      recipients: .init(service: key.service, group: key.group), region: key.identifier,
      payload: payload)
  }

  func key(_ number: UInt64) -> Store.Key {
    Store.Key(service: "clock", identifier: "clock-\(number)")
  }

  mutating func change() throws(StorageError) {
    var changes: [Store.Change] = []
    var events: [StoredEntry] = []
    // Now and then more than fits into one page.
    let count = random.next() % 16 == 0 ? 20 : Int(random.next() % 3) + 1
    for _ in 0..<count {
      token += 1
      let text = Array("\(token)".utf8)
      let event = Self.entry(store, key(random.next() % 48), text)
      events.append(event)
      let key = Store.Key(service: "clock", identifier: event.region ?? "")
      changes += [.setState(key, text), .add(event)]
    }
    let tokens = token - Int64(count) + 1...token
    log.write("c" + zip(events, tokens).map { " \($0.region ?? "") \($1)" }.joined())
    try write(changes)
    log.write(
      "C" + zip(events, tokens).map { " \($0.region ?? "") \($1) \($0.id)" }.joined())
    for event in events { deliver(event) }
  }

  func deliver(_ event: StoredEntry) {
    room.wait()
    deliverer.async { [store, log, room] in
      let token = String(decoding: event.payload, as: UTF8.self)
      let delivered = LogFile.bytes(of: "d \(token) \(event.id)")
      let marked = LogFile.bytes(of: "m \(token)")
      // The delegate's effect is a copy to shared memory: no system call lies before the mark's.
      log.write(delivered)
      store.settle(group: "", through: event.id)
      log.write(marked)
      room.signal()
    }
  }

  /// Runs into a limit on the files' length and on again.
  static func fill(_ store: Store) throws(StorageError) {
    signal(SIGXFSZ, SIG_IGN)
    func register(_ number: Int) throws(StorageError) {
      let key = Store.Key(service: "clock", identifier: "full-\(number)")
      try store.writeAndWait([.register(.init(key: key, definition: Array("x".utf8)))])
    }
    func limit(_ bytes: rlim_t) {
      var limit = rlimit(rlim_cur: bytes, rlim_max: .max)
      // The structure outlives the call.
      guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else {
        exit(2)
      }
    }
    var (stored, failures) = (0, 0)
    for round in 1...3 {
      limit(rlim_t(100_000 * round))
      while true {
        do throws(StorageError) {
          try register(stored)
          stored += 1
        } catch {
          failures += 1
          guard "\(error)".contains("File too large"), store.failure == error else { throw error }
          break
        }
      }
      limit(.max)
      try register(stored)
      stored += 1
      guard store.failure == nil else { exit(4) }
    }
    print(stored, failures)
  }

  /// Measures calls while a sync takes 2 s.
  static func useSlowDisk(_ store: Store, dies: Bool) throws(StorageError) {
    func key(_ number: Int) -> Store.Key {
      Store.Key(service: "clock", identifier: "slow-\(number)")
    }
    let events = (0..<100).map {
      entry(store, key($0), [])
    }
    try store.writeAndWait(events.map { .add($0) })
    let before = store.transactions
    // Tests/TestSupport/Syncs.c: while the file "slow" exists, a sync takes 2 s, and "syncing" with it.
    close(unsafe Glibc.open("slow", O_CREAT | O_WRONLY, 0o600))
    store.write([.setAuthorization("always")])
    let deadline = ContinuousClock.now + .seconds(20)
    while unsafe access("syncing", F_OK) != 0 {
      if .now > deadline { exit(75) }
      usleep(1000)
    }
    let clock = ContinuousClock()
    var (longestWrite, longestMark) = (Duration.zero, Duration.zero)
    for event in events {
      longestMark = max(longestMark, clock.measure { store.settle(group: "", through: event.id) })
    }
    if dies { kill(getpid(), SIGKILL) }
    for number in 0..<1000 {
      let registration = Store.Registration(key: key(number), definition: [1])
      longestWrite = max(longestWrite, clock.measure { store.write([.register(registration)]) })
    }
    let isStillSyncing = unsafe access("syncing", F_OK) == 0
    store.flush()
    print(
      longestWrite / .microseconds(1), longestMark / .microseconds(1), isStillSyncing ? 1 : 0,
      store.transactions - before)
  }

  /// Stores events one after the other, and prints those whose write completed.
  static func store(_ store: Store) throws(StorageError) {
    while true {
      let event = entry(
        store, .init(service: "clock", identifier: "power"), [UInt8](repeating: 7, count: 3000))
      try store.writeAndWait([.add(event)])
      let line = Array("\(event.id)\n".utf8)
      // The array outlives the call.
      guard unsafe Glibc.write(1, line, line.count) == line.count else { exit(74) }
    }
  }
}
