import ArgumentParser
import FleetSites
import FoundationEssentials
import Fusion
import Glibc
import Synchronization
import SystemPackage

/// An error that ends the command, with a status of `sysexits.h`.
struct FleetError: Error, CustomStringConvertible {
  enum Status: Int32 {
    case badData = 65
    case noInput = 66
    case unavailable = 69
    case cannotCreate = 73
    case ioError = 74
    case noPermission = 77
    case interrupted = 130
  }

  /// Writes a sentence to standard error.
  static func warn(_ text: String) {
    _ = try? FileDescriptor.standardError.writeAll(Array("beaconscan-fleet: \(text)\n".utf8))
  }

  var status: Status
  var description: String

  init(_ status: Status, _ description: String) {
    self.status = status
    self.description = description
  }

  /// The error of a site whose name no receiver can report.
  static func notReporting(_ site: String) -> Self {
    FleetError(
      .badData,
      "the name of a site that reports has 1 to 64 letters, digits, - and _, not '\(site)'")
  }
}

enum Files {
  static func bytes(_ path: String) throws -> [UInt8] {
    do {
      let file = try FileDescriptor.open(FilePath(path), .readOnly)
      return try file.closeAfter { try bytes(of: file) }
    } catch let error as Errno {
      throw FleetError(.noInput, "cannot read \(path): \(error)")
    }
  }

  /// The first line of a file, such as a password.
  static func firstLine(_ path: String) throws -> String {
    let line = try bytes(path).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    return String(decoding: line, as: UTF8.self)
  }

  /// The bytes of an open file up to its end.
  static func bytes(of file: FileDescriptor) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = try unsafe part.withUnsafeMutableBytes { try unsafe file.read(into: $0) }
      guard count > 0 else { return bytes }
      bytes += part[..<count]
    }
  }

  /// The lines of a file that are not empty.
  static func lines(_ path: String) throws -> [[UInt8]] {
    try bytes(path).split(separator: UInt8(ascii: "\n")).map(Array.init)
  }

  static func site(_ path: String) throws -> Site {
    let bytes = try bytes(path)
    do throws(SiteFileError) {
      return try Site(parsing: bytes)
    } catch {
      throw FleetError(.badData, "\(path): \(error)")
    }
  }

  static func makeDirectory(_ path: String) throws {
    guard unsafe mkdir(path, 0o755) != 0 else { return }
    throw FleetError(.cannotCreate, "cannot make the directory \(path): \(Errno(rawValue: errno))")
  }

  /// The path from the root of the file system.
  static func whole(_ path: String) throws -> String {
    guard let whole = unsafe realpath(path, nil) else {
      throw FleetError(.noInput, "cannot find \(path): \(Errno(rawValue: errno))")
    }
    defer { unsafe free(whole) }
    return unsafe String(cString: whole)
  }

  /// Writes a file that may be there.
  static func replace(_ bytes: [UInt8], at path: String) throws {
    do {
      let file = try FileDescriptor.open(
        FilePath(path), .writeOnly, options: [.create, .truncate], permissions: [.ownerReadWrite])
      _ = try file.closeAfter { try file.writeAll(bytes) }
    } catch let error as Errno {
      throw FleetError(.cannotCreate, "cannot write \(path): \(error)")
    }
  }

  /// Edits a site file in one step: others read it as it was before, or as it is after.
  static func edit(
    _ path: String, _ change: ([UInt8]) throws(SiteFileError) -> [UInt8]
  ) throws {
    let before = try bytes(path)
    let after: [UInt8]
    do throws(SiteFileError) {
      after = try change(before)
    } catch {
      throw FleetError(.badData, "\(path): \(error)")
    }
    try update(after, at: path)
  }

  private static func update(_ bytes: [UInt8], at path: String) throws {
    let path = try whole(path)
    let new = path + ".new"
    do {
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { throw Errno(rawValue: errno) }
      let file = try FileDescriptor.open(
        FilePath(new), .writeOnly, options: [.create, .truncate],
        permissions: FilePermissions(rawValue: status.st_mode & 0o777))
      try file.closeAfter {
        try file.writeAll(bytes)
        guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
      }
      guard unsafe rename(new, path) == 0 else { throw Errno(rawValue: errno) }
    } catch let error as Errno {
      unsafe unlink(new)
      throw FleetError(.cannotCreate, "cannot write \(path): \(error)")
    }
  }

  /// Writes a new file that only its owner can read.
  static func makeSecret(_ bytes: [UInt8], at path: String) throws {
    do {
      let file = try FileDescriptor.open(
        FilePath(path), .writeOnly, options: [.create, .exclusiveCreate],
        permissions: .ownerReadWrite)
      _ = try file.closeAfter { try file.writeAll(bytes) }
    } catch let error as Errno {
      throw FleetError(.cannotCreate, "cannot make \(path): \(error)")
    }
  }

  static func write(_ bytes: [UInt8], to path: String) throws {
    let file = try OutputLines(path)
    try file.write(bytes)
    try file.close()
  }
}

/// The lines of a file that are not empty, without the whole file in memory.
final class InputLines: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    var start = 0
    var number = 0
    var hasEnded = false
  }

  let path: String
  private let file: FileDescriptor
  private let state = Mutex(State())

  init(_ path: String) throws(FleetError) {
    self.path = path
    do {
      file = try FileDescriptor.open(FilePath(path), .readOnly)
    } catch {
      throw FleetError(.noInput, "cannot read \(path): \(error)")
    }
  }

  deinit { try? file.close() }

  /// The number of the last line, from 1.
  var number: Int { state.withLock { $0.number } }

  func next() throws(FleetError) -> [UInt8]? {
    try state.withLock { state throws(FleetError) in
      while true {
        if let end = state.bytes[state.start...].firstIndex(of: UInt8(ascii: "\n")) {
          let line = Array(state.bytes[state.start..<end])
          state.start = end + 1
          state.number += 1
          if !line.isEmpty { return line }
          continue
        }
        state.bytes.removeFirst(state.start)
        state.start = 0
        guard !state.hasEnded else {
          guard !state.bytes.isEmpty else { return nil }
          state.bytes.append(UInt8(ascii: "\n"))
          continue
        }
        guard state.bytes.count <= Self.longest else {
          throw FleetError(
            .badData,
            "\(path): line \(state.number + 1): a line has at most \(Self.longest) bytes")
        }
        state.hasEnded = try !read(into: &state.bytes)
      }
    }
  }

  private static let longest = 1 << 22

  private func read(into bytes: inout [UInt8]) throws(FleetError) -> Bool {
    var part = [UInt8](repeating: 0, count: 1 << 16)
    do {
      let count = try unsafe part.withUnsafeMutableBytes { try unsafe file.read(into: $0) }
      bytes += part[..<count]
      return count > 0
    } catch {
      throw FleetError(.ioError, "cannot read \(path): \(error)")
    }
  }
}

/// A new file of lines.
final class OutputLines {
  private let file: FileDescriptor
  private let path: String
  private var waiting: [UInt8] = []

  init(_ path: String) throws {
    self.path = path
    do {
      file = try FileDescriptor.open(
        FilePath(path), .writeOnly, options: [.create, .exclusiveCreate],
        permissions: [.ownerReadWrite, .groupRead, .otherRead])
    } catch let error as Errno {
      throw FleetError(.cannotCreate, "cannot make \(path): \(error)")
    }
  }

  func write(_ line: [UInt8]) throws {
    waiting += line
    if line.last != UInt8(ascii: "\n") { waiting.append(UInt8(ascii: "\n")) }
    if waiting.count > 1 << 16 { try flush() }
  }

  func close() throws {
    try flush()
    try file.close()
  }

  private func flush() throws {
    do {
      try file.writeAll(waiting)
      waiting.removeAll(keepingCapacity: true)
    } catch let error as Errno {
      throw FleetError(.ioError, "cannot write \(path): \(error)")
    }
  }
}
