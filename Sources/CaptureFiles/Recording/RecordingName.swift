import Scanning
import SystemPackage

/// How the files of a rotated recording are named.
///
/// `site.btsnoop` becomes `site-000001-20261121T053000Z.btsnoop`: a number, which goes on from the highest
/// that is there, and the time at which the file begins. The number orders them even where the clock on the
/// wall was wrong; the time is for people.
struct RecordingName {
  /// What was asked for.
  let path: FilePath

  private static let fewestDigits = 6

  /// The name of a file.
  func file(_ number: Int, from time: WallClockTime) -> FilePath {
    var digits = String(number)
    if digits.count < Self.fewestDigits {
      digits = String(repeating: "0", count: Self.fewestDigits - digits.count) + digits
    }
    let clock = time.description.prefix(19).filter { $0 != "-" && $0 != ":" }
    return sibling("\(stem)-\(digits)-\(clock)Z\(ending)")
  }

  /// The number of a file in the directory, if it is one of this recording's.
  func number(of name: String) -> Int? {
    guard name.hasPrefix(stem + "-"), name.hasSuffix(ending) else { return nil }
    let parts = name.dropFirst(stem.count + 1).dropLast(ending.count)
      .split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].utf8.count >= Self.fewestDigits, parts[1].utf8.count == 16,
      parts[1].last == "Z", parts[0].utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return Int(parts[0])
  }

  /// The files that are there, the oldest first.
  func files() throws(RecordingCallError) -> [(number: Int, path: FilePath)] {
    var files: [(number: Int, path: FilePath)] = []
    for name in try path.directory.names() {
      guard let number = number(of: name) else { continue }
      files.append((number, sibling(name)))
    }
    return files.sorted { $0.number < $1.number }
  }

  private var stem: String { path.stem ?? "recording" }
  private var ending: String { path.extension.map { ".\($0)" } ?? "" }

  private func sibling(_ name: String) -> FilePath { path.removingLastComponent().appending(name) }
}

/// Makes one file after another, and removes those that are too many.
struct RecordingNames {
  private let name: RecordingName
  private let isRotated: Bool
  private let maximumFiles: Int?
  private var lastNumber = 0
  /// The files that are there, the oldest first; kept only where there is a limit.
  private var kept: [FilePath] = []
  private var problem: RecordingError.Problem?

  /// Looks at what earlier recordings left.
  init(_ configuration: RecordingConfiguration) throws(RecordingCallError) {
    name = RecordingName(path: FilePath(configuration.path))
    isRotated = configuration.isRotated
    maximumFiles = configuration.maximumFiles
    guard isRotated else { return }
    let files = try name.files()
    // The first file may come with the first packet only.
    try name.path.directory.checkWritable()
    lastNumber = files.last?.number ?? 0
    if maximumFiles != nil { kept = files.map(\.path) }
  }

  mutating func next(at time: WallClockTime, mayReplace: Bool) throws(RecordingCallError)
    -> RecordingFile
  {
    guard name.path != "-" else { return RecordingFile(.standardOutput, named: "standard output") }
    guard isRotated else { return try make(name.path, mayReplace: mayReplace) }
    removeOldest()
    while true {
      let next = lastNumber.addingReportingOverflow(1)
      guard !next.overflow else { throw RecordingCallError("open", Errno.fileExists) }
      lastNumber = next.partialValue
      let path = name.file(lastNumber, from: time)
      do throws(RecordingCallError) {
        let file = try make(path, mayReplace: false)
        if maximumFiles != nil { kept.append(path) }
        return file
      } catch {
        // Another recording of the same name may have been quicker.
        if error.errno == .fileExists { continue }
        lastNumber -= 1
        throw error
      }
    }
  }

  /// What else went wrong with the names since the last call.
  mutating func removeProblem() -> RecordingError.Problem? {
    defer { problem = nil }
    return problem
  }

  private mutating func make(_ path: FilePath, mayReplace: Bool) throws(RecordingCallError)
    -> RecordingFile
  {
    let file = try RecordingFile(path, mayReplace: mayReplace)
    guard !file.isStream else { return file }
    do throws(RecordingCallError) {
      // Without its name, a file that is on the disk is not found there.
      try path.directory.syncNames()
    } catch {
      problem = error.problem
    }
    return file
  }

  /// Makes room for one more.
  private mutating func removeOldest() {
    guard let maximumFiles else { return }
    while kept.count >= max(1, maximumFiles), let oldest = kept.first {
      do throws(RecordingCallError) {
        try oldest.remove()
      } catch {
        problem = error.problem
        return
      }
      kept.removeFirst()
    }
  }
}
