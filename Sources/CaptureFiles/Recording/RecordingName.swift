import Scanning
import Sources
import SystemPackage

/// The naming scheme of a rotated recording: `site.btsnoop` becomes
/// `site-000001-20261121T053000Z.btsnoop`, with a number, which gives the order even if the wall
/// clock was wrong, and the time at which the file begins.
struct RecordingName {
  let path: FilePath

  private static let fewestDigits = 6

  func file(_ number: Int, from time: WallClockTime) -> FilePath {
    var digits = String(number)
    if digits.count < Self.fewestDigits {
      digits = String(repeating: "0", count: Self.fewestDigits - digits.count) + digits
    }
    let clock = time.description.prefix(19).filter { $0 != "-" && $0 != ":" }
    return sibling("\(stem)-\(digits)-\(clock)Z\(ending)")
  }

  /// Returns the number in a file name, or `nil` if it is not one of this recording's.
  func number(of name: String) -> Int? {
    guard name.hasPrefix(stem + "-"), name.hasSuffix(ending) else { return nil }
    let parts = name.dropFirst(stem.count + 1).dropLast(ending.count)
      .split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].utf8.count >= Self.fewestDigits, parts[1].utf8.count == 16,
      parts[1].last == "Z", parts[0].utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return Int(parts[0])
  }

  var files: [(number: Int, path: FilePath)] {
    names(in: path.directory.string)
      .compactMap { name in number(of: name).map { ($0, sibling(name)) } }
      .sorted { $0.number < $1.number }
  }

  private var stem: String { path.stem ?? "recording" }
  private var ending: String { path.extension.map { ".\($0)" } ?? "" }

  private func sibling(_ name: String) -> FilePath { path.removingLastComponent().appending(name) }
}

/// A factory that creates one file after another, and removes the excess.
struct RecordingNames {
  private let name: RecordingName
  private let isRotated: Bool
  private let maximumFiles: Int?
  private var lastNumber = 0
  /// The existing files, oldest first; empty if their number has no limit.
  private var kept: [FilePath] = []
  private var problem: RecordingError.Problem?

  init(_ configuration: RecordingConfiguration) throws(RecordingError.Problem) {
    name = RecordingName(path: FilePath(configuration.path))
    isRotated = configuration.isRotated
    maximumFiles = configuration.maximumFiles
    guard isRotated else { return }
    // The first file may be created only with the first packet.
    try name.path.directory.checkAccess()
    let files = name.files
    lastNumber = files.last?.number ?? 0
    if maximumFiles != nil { kept = files.map(\.path) }
  }

  mutating func next(
    at time: WallClockTime, mayReplace: Bool
  ) throws(RecordingError.Problem) -> RecordingFile {
    guard name.path != "-" else { return RecordingFile(.standardOutput, named: "standard output") }
    guard isRotated else { return try make(name.path, mayReplace: mayReplace) }
    removeOldest()
    while true {
      let next = lastNumber.addingReportingOverflow(1)
      guard !next.overflow else { throw .exists }
      lastNumber = next.partialValue
      let path = name.file(lastNumber, from: time)
      do throws(RecordingError.Problem) {
        let file = try make(path, mayReplace: false)
        if maximumFiles != nil { kept.append(path) }
        return file
      } catch {
        // Another recording with the same name may have created the file first.
        if error == .exists { continue }
        lastNumber -= 1
        throw error
      }
    }
  }

  mutating func removeProblem() -> RecordingError.Problem? {
    defer { problem = nil }
    return problem
  }

  private mutating func make(
    _ path: FilePath, mayReplace: Bool
  ) throws(RecordingError.Problem) -> RecordingFile {
    let file = try RecordingFile(path, mayReplace: mayReplace)
    guard !file.isStream else { return file }
    // After a power cut, a file whose name is not on the disk cannot be found.
    do throws(RecordingError.Problem) { try path.directory.syncNames() } catch { problem = error }
    return file
  }

  private mutating func removeOldest() {
    guard let maximumFiles else { return }
    while kept.count >= max(1, maximumFiles), let oldest = kept.first {
      do throws(RecordingError.Problem) { try oldest.remove() } catch { return problem = error }
      kept.removeFirst()
    }
  }
}
