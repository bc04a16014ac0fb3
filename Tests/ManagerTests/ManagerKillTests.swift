import Foundation
import Glibc
import TestSupport
import Testing

/// Kills a process that monitors regions, again and again, and reads in its log what its delegate was told.
@Suite(.blocking) struct ManagerKillTests {
  /// A short run each time; `BEACONSCAN_KILLS=500` for the full one.
  static let kills =
    ProcessInfo.processInfo.environment["BEACONSCAN_KILLS"].flatMap { Int($0) } ?? 20

  /// Each of them takes longer than one without a daemon, to which the app connects again.
  static let daemonKills =
    ProcessInfo.processInfo.environment["BEACONSCAN_KILLS"].flatMap { Int($0) } ?? 60

  @Test func nothingIsLostOrTwice() throws {
    let scratch = try Scratch()
    let folder = scratch.folder
    defer { withExtendedLifetime(scratch) {} }
    let log = folder.appending(path: "log")
    var random = SplitMix64(seed: 20_261_121)
    for number in 0..<Self.kills {
      let starts = read(log).count { $0 == "start" }
      let process = try start(folder, log, seed: random.next(), steps: 100_000)
      // Before it is ready, or some steps after, however fast the machine.
      if number.isMultiple(of: 5) {
        Thread.sleep(forTimeInterval: Double(random.next() % 200) / 1000)
      } else {
        waitForSteps(Int(random.next() % 8) + 1, log, after: starts)
        Thread.sleep(forTimeInterval: Double(random.next() % 30) / 1000)
      }
      #expect(process.isRunning, "run \(number) ended by itself")
      kill(process.identifier, SIGKILL)
      process.wait()
    }
    let last = try start(folder, log, seed: 1, steps: 0)
    last.wait()
    #expect(last.status == 0)
    let lines = try String(contentsOf: log, encoding: .utf8).split(separator: "\n").map(String.init)
    let crossings = checkCrossings(lines)
    checkRegions(lines)
    #expect(crossings > Self.kills, "\(crossings) crossings are too few to tell")
    #expect(
      !lines.contains { $0.hasPrefix("remark") }, "\(lines.filter { $0.hasPrefix("remark") })")
  }

  /// The same through a daemon, where the daemon, the app or both are killed.
  @Test func nothingIsLostOrTwiceThroughADaemon() throws {
    let scratch = try Scratch()
    let folder = scratch.folder
    defer { withExtendedLifetime(scratch) {} }
    try FileManager.default.createDirectory(
      at: folder.appending(path: "apps"), withIntermediateDirectories: true)
    try #"{"*": "always"}"#.write(
      toFile: scratch["authorization.json"], atomically: true, encoding: .utf8)
    let daemonLog = folder.appending(path: "daemon.log")
    let appLog = folder.appending(path: "app.log")
    func changes() -> Int {
      read(appLog).count { $0.hasPrefix("confirmed") || $0.hasPrefix("removed") }
    }
    var random = SplitMix64(seed: 20_261_126)
    var daemon = try startPart("daemon", folder, seed: random.next(), steps: 100_000)
    var app = try startPart("app", folder, seed: random.next(), steps: 100_000)
    defer { for process in [daemon, app] { kill(process.identifier, SIGKILL) } }
    for number in 0..<Self.daemonKills {
      // Before they are ready, or after both have done something, however fast the machine.
      if number.isMultiple(of: 4) {
        Thread.sleep(forTimeInterval: Double(random.next() % 60) / 1000)
      } else {
        let steps = read(daemonLog).count + Int(random.next() % 4) + 1
        let before = changes()
        let isReached = eventually { read(daemonLog).count >= steps && changes() > before }
        try #require(isReached, "kill \(number) is not reached")
        write("both run", to: appLog)
        Thread.sleep(forTimeInterval: Double(random.next() % 30) / 1000)
      }
      try #require(
        daemon.isRunning && app.isRunning, "before kill \(number), one ended by itself")
      let target = random.next() % 3
      write("kill \(["daemon", "app", "both"][Int(target)])", to: appLog)
      if target != 1 { kill(daemon.identifier, SIGKILL) }
      if target != 0 { kill(app.identifier, SIGKILL) }
      if target != 1 {
        daemon.wait()
        daemon = try startPart("daemon", folder, seed: random.next(), steps: 100_000)
      }
      if target != 0 {
        app.wait()
        app = try startPart("app", folder, seed: random.next(), steps: 100_000)
      }
    }
    write("kill both", to: appLog)
    for process in [daemon, app] {
      kill(process.identifier, SIGKILL)
      process.wait()
    }
    daemon = try startPart("daemon", folder, seed: 1, steps: 0)
    app = try startPart("app", folder, seed: 1, steps: 0)
    try #require(eventually { !app.isRunning })
    #expect(app.status == 0)
    // An addition is sure when the daemon has stored it, not when the delegate is told of it.
    let lines = read(appLog).filter { !$0.hasPrefix("added") }.map {
      $0.hasPrefix("confirmed") ? "added" + $0.dropFirst("confirmed".count) : String($0)
    }
    let crossings = checkCrossings(lines)
    // What a killed app has sent may reach the daemon after the next app has begun.
    checkRegions(lines, keepingUnsure: true)
    #expect(crossings >= Self.daemonKills / 2, "\(crossings) crossings are too few to tell")
  }

  /// Checks that entering and leaving each region take turns, from its first state on, and end where the beacon is:
  /// then none was lost and none delivered twice. The one exception is documented: a process that is killed
  /// between the return of its delegate and the mark that this leaves is given that crossing again, first of all. What
  /// it has acknowledged to a daemon that was killed with it, or before it and no other one has read since, may be given
  /// again too.
  private func checkCrossings(_ lines: [String]) -> Int {
    func isCrossing(_ line: String) -> Bool { line.hasPrefix("enter ") || line.hasPrefix("exit ") }
    var (inside, known): (Set<String>, Set<String>) = ([], [])
    var (count, repeated) = (0, 0)
    /// The crossings at the end of `crossings` that the process before was given again and was killed before them.
    var left = 0
    var crossings: [String] = []
    /// The latest crossings, states of the line's region, starts and kills, and those that follow.
    func context(_ number: Int) -> String {
      let name = lines[number].split(separator: " ")[1]
      func isNamed(_ line: String) -> Bool {
        isCrossing(line) || line == "start" || line.hasPrefix("kill")
          || line.hasPrefix("state \(name) ")
      }
      return
        (lines[...number].filter(isNamed).suffix(40) + ["|"]
        + lines[(number + 1)...].filter(isNamed).prefix(20)).joined(separator: ", ")
    }
    /// Whether crossings take turns, from what is inside now.
    func takeTurns(_ new: ArraySlice<String>) -> Bool {
      var inside = inside
      return new.allSatisfy { line in
        let words = line.split(separator: " ").map(String.init)
        return words[0] == "enter"
          ? inside.insert(words[1]).inserted || !known.contains(words[1])
          : inside.remove(words[1]) != nil || !known.contains(words[1])
      }
    }
    for (number, line) in lines.enumerated() {
      let words = line.split(separator: " ").map(String.init)
      if line == "start" {
        let next = lines[(number + 1)...].prefix { $0 != "start" }.filter(isCrossing)
        let isDaemonNew = lines[..<number].reversed().prefix { $0 != "both run" }
          .contains { $0 == "kill daemon" || $0 == "kill both" }
        let maximum = min(isDaemonNew ? .max : left + 1, crossings.count)
        let whole = (0...min(maximum, next.count)).last {
          crossings.suffix($0) == next.prefix($0) && takeTurns(next.dropFirst($0))
        }
        // One that was killed soon may have been given the first of them only.
        let begun = (0...maximum).last {
          $0 >= next.count && crossings.suffix($0).prefix(next.count) == next[...]
        }
        repeated = whole ?? (begun == nil ? 0 : next.count)
        left = repeated == next.count ? (begun ?? repeated) - repeated : 0
      }
      guard words.count >= 2 else { continue }
      if isCrossing(line) {
        if repeated > 0 {
          repeated -= 1
          continue
        }
        crossings.append(line)
      }
      switch words[0] {
      case "state":
        if known.insert(words[1]).inserted, words[2] == "1" { inside.insert(words[1]) }
      case "enter":
        count += 1
        known.insert(words[1])
        #expect(inside.insert(words[1]).inserted, "entered twice: \(context(number))")
      case "exit":
        count += 1
        #expect(inside.remove(words[1]) != nil, "left twice: \(context(number))")
      default: break
      }
    }
    let end = lines.last { $0.hasPrefix("end") }?.split(separator: " ").dropFirst().map(String.init)
    #expect(Set(end ?? ["no end"]) == inside)
    return count
  }

  /// What was added is there after each restart, and what was removed is not; of a call that was cut off,
  /// either may be.
  private func checkRegions(_ lines: [String], keepingUnsure: Bool = false) {
    var (kept, unsure): (Set<String>, Set<String>) = ([], [])
    for (number, line) in lines.enumerated() {
      let words = line.split(separator: " ").map(String.init)
      switch words.first {
      case "adds", "removes": unsure.insert(words[1])
      case "added":
        kept.insert(words[1])
        unsure.remove(words[1])
      case "removed":
        kept.remove(words[1])
        unsure.remove(words[1])
      case "kept":
        let found = Set(words.dropFirst())
        #expect(
          found.subtracting(unsure) == kept.subtracting(unsure), "line \(number + 1): \(line)")
        kept = found
        if !keepingUnsure { unsure = [] }
      default: break
      }
    }
  }

  /// Waits until the process that was started last has changed the world so many times.
  private func waitForSteps(_ count: Int, _ log: URL, after starts: Int) {
    eventually {
      let lines = read(log)
      guard lines.count(where: { $0 == "start" }) > starts,
        let last = lines.lastIndex(of: "start")
      else { return false }
      return lines[last...].count { $0.hasPrefix("world") } >= count
    }
  }

  private func write(_ line: String, to log: URL) {
    // The app appends to it too.
    let file = unsafe open(log.path, O_WRONLY | O_APPEND)
    let bytes = Array("\(line)\n".utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
    close(file)
  }

  private func read(_ log: URL) -> [Substring] {
    (try? String(contentsOf: log, encoding: .utf8))?.split(separator: "\n") ?? []
  }

  /// Starts the daemon or the app.
  private func startPart(_ part: String, _ folder: URL, seed: UInt64, steps: Int) throws
    -> StartedProcess
  {
    let socket = folder.appending(path: "apps.sock").path
    return try start(
      [part, folder.path, "\(seed)", "\(steps)"], environment: ["BEACONSCAN_SOCKET": socket])
  }

  private func start(_ folder: URL, _ log: URL, seed: UInt64, steps: Int) throws
    -> StartedProcess
  {
    try start([folder.appending(path: "state").path, log.path, "\(seed)", "\(steps)"])
  }

  private func start(
    _ arguments: [String], environment: [String: String] = [:]
  ) throws -> StartedProcess {
    let process = Process()
    process.executableURL = Bundle.main.executableURL?.deletingLastPathComponent()
      .appending(path: "ManagerTorture")
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    return try StartedProcess(process)
  }
}
