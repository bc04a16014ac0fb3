import Foundation
import TestSupport
import Testing

/// What the log of killed runs says, compared with what each next run found.
struct TortureLog {
  struct Region: Hashable {
    var value: Int
    var token: Int
  }

  /// A call that was begun.
  enum Call {
    case put(String, Int)
    case remove(String)
    case change([(name: String, token: Int)])
  }

  private(set) var regions: [String: Region] = [:]
  /// Events that wait: their regions.
  private var waiting: [Int: String] = [:]
  private var underWay: Call?
  /// Delivered, but the mark's return was not seen.
  private var unmarked: Set<Int> = []
  private var marked: Set<Int> = []
  /// The position that was in the file when the run was killed.
  private var positionInFile = 0
  private(set) var deliveries: [Int: Int] = [:]
  private var serials: [Int: Int] = [:]
  private var highestSerial = 0

  private var foundRegions: [String: Region] = [:]
  private var foundEvents: [Int] = []

  private(set) var lives = 0
  private(set) var calls = 0
  private(set) var events = 0
  /// Events that were found again though they had been delivered: the mark came too late.
  private(set) var doubled: Set<Int> = []
  private(set) var wrong: [String] = []

  init(_ text: String) {
    for line in text.split(separator: "\n") {
      read(line.split(separator: " ").map(String.init))
    }
  }

  private mutating func read(_ words: [String]) {
    let numbers = words.map { Int($0) ?? 0 }
    switch words[0] {
    case "s":
      // A life that was killed before it had written all it found writes it again.
      foundRegions[words[1]] = Region(value: numbers[2], token: numbers[3])
    case "q":
      foundEvents.append(numbers[1])
      if serials[numbers[1], default: numbers[2]] != numbers[2] { wrong.append("\(words): serial") }
      serials[numbers[1]] = numbers[2]
      highestSerial = max(highestSerial, numbers[2])
    case "S": compare()
    case "p": underWay = .put(words[1], numbers[2])
    case "r": underWay = .remove(words[1])
    case "c":
      underWay = .change(
        stride(from: 1, to: words.count, by: 2).map { (words[$0], numbers[$0 + 1]) })
    case "P", "R", "C":
      finish()
      guard words[0] == "C" else { return }
      for index in stride(from: 1, to: words.count, by: 3) {
        if numbers[index + 2] <= highestSerial { wrong.append("\(words): not rising") }
        highestSerial = numbers[index + 2]
        serials[numbers[index + 1]] = highestSerial
      }
    case "d":
      deliveries[numbers[1], default: 0] += 1
      if deliveries[numbers[1], default: 0] > 1, marked.contains(numbers[1]) {
        wrong.append("\(words): delivered twice")
      }
      unmarked.insert(numbers[1])
      waiting[numbers[1]] = nil
    case "m":
      unmarked.remove(numbers[1])
      marked.insert(numbers[1])
    case "K": positionInFile = numbers.dropFirst().first ?? 0
    case "X": break
    case "begin":
      lives += 1
      (foundRegions, foundEvents) = ([:], [])
    default: wrong.append(words.joined(separator: " "))
    }
  }

  private mutating func finish() {
    calls += 1
    guard let call = underWay else { return }
    underWay = nil
    (regions, waiting) = after(call)
    if case .change(let changes) = call {
      events += changes.count
    }
  }

  private func after(_ call: Call) -> ([String: Region], [Int: String]) {
    var (regions, waiting) = (regions, waiting)
    switch call {
    case .put(let name, let value):
      regions[name] = Region(value: value, token: 0)
    case .remove(let name):
      regions[name] = nil
      waiting = waiting.filter { $0.value != name }
    case .change(let changes):
      for (name, token) in changes {
        regions[name]?.token = token
        // It may have been delivered before its call was written down as over.
        if deliveries[token] == nil { waiting[token] = name }
      }
    }
    return (regions, waiting)
  }

  /// What was found is what was left, with the call that was under way or without it.
  private mutating func compare() {
    let found = Set(foundEvents)
    if found.count != foundEvents.count { wrong.append("life \(lives): an event pends twice") }
    // Deliveries of which the mark's end was not seen may be found again, or not.
    let again = found.intersection(unmarked)
    doubled.formUnion(again)
    let inFile = again.filter { serials[$0] ?? .max <= positionInFile }
    if !inFile.isEmpty { wrong.append("life \(lives): \(inFile) again in spite of their marks") }
    let rest = found.subtracting(again)
    var possible = [(regions, waiting)]
    if let underWay { possible.append(after(underWay)) }
    if !possible.contains(where: { $0.0 == foundRegions && Set($0.1.keys) == rest }) {
      wrong.append(
        "life \(lives): regions \(foundRegions == regions), lost "
          + "\(Set(waiting.keys).subtracting(rest)), too many \(rest.subtracting(waiting.keys)), "
          + "under way \(String(describing: underWay))")
    }
    if let last = possible.last, underWay != nil, last.0 == foundRegions,
      Set(last.1.keys) == rest
    {
      calls += 1
      waiting = last.1
    }
    regions = foundRegions
    unmarked = []
    for token in again { waiting[token] = "again" }
    underWay = nil
  }

  /// Events that still wait at the end.
  var left: Int { waiting.count }
}

/// The whole lines of a run's log. A kill cuts others off: those lack their `#`, or their end, in which case another
/// thread's line follows the zeros.
func wholeLines(of log: [UInt8]) -> [String] {
  var lines: [String] = []
  var start: Int?
  for (place, byte) in log.enumerated() {
    switch byte {
    case UInt8(ascii: "\n"):
      if let start { lines.append(String(decoding: log[start..<place], as: UTF8.self)) }
      start = nil
    case UInt8(ascii: "#") where start == nil:
      let before = place == 0 ? 0 : log[place - 1]
      if before == 0 || before == UInt8(ascii: "\n") { start = place + 1 }
    case 0: start = nil
    default: break
    }
  }
  if let start { lines.append(String(decoding: log[start...], as: UTF8.self)) }
  return lines
}

/// Returns whether a run's log has more than some bytes, and reads no more of it than it must: the file is as long from
/// its beginning, with zeros where nothing is written yet.
func hasLogged(moreThan length: Int, in scratch: Scratch) -> Bool {
  guard let file = FileHandle(forReadingAtPath: scratch["log"]) else { return false }
  try? file.seek(toOffset: UInt64(length))
  return (try? file.read(upToCount: 64))?.contains { $0 != 0 } ?? false
}
