import Glibc
import SystemPackage

/// A file that gets its name only when it is complete.
final class OutputFile {
  private let path: FilePath
  private let temporary: FilePath?
  private var file: FileDescriptor?

  /// Opens a file, or standard output for `-`. It writes directly to what exists and is not a
  /// regular file, such as a pipe.
  init(_ name: String, replacesFile: Bool) throws {
    path = FilePath(name)
    guard name != "-" else {
      temporary = nil
      file = .standardOutput
      return
    }
    let there = try? Stat(path)
    if there?.type == .directory {
      throw CommandError(.cannotCreate, "\(name): it is a directory; name a file in it")
    }
    let isReplaced = there.map { $0.type == .regular } ?? true
    if there?.type == .regular, !replacesFile {
      throw CommandError(
        .cannotCreate,
        "\(name): there is a file already; give another name, or --force to replace it")
    }
    let last = path.lastComponent?.string ?? "recording"
    let beside = path.removingLastComponent().appending(".\(last).\(getpid()).tmp")
    temporary = isReplaced ? beside : nil
    do {
      file = try .open(
        temporary ?? path, .writeOnly,
        options: isReplaced ? [.create, .exclusiveCreate, .closeOnExec] : [.closeOnExec],
        permissions: [.ownerReadWrite, .groupReadWrite, .otherReadWrite])
    } catch {
      throw Self.failure(error, "\(name): cannot create it", .cannotCreate)
    }
  }

  deinit {
    guard let temporary, let file else { return }
    try? file.close()
    unsafe unlink(temporary.string)
  }

  func write(_ bytes: [UInt8]) throws {
    do {
      try file?.writeAll(bytes)
    } catch Errno.brokenPipe {
      throw ClosedPipe()
    } catch {
      throw Self.failure(error, "\(path): cannot write it", .ioError)
    }
  }

  func finish() throws {
    guard let temporary, let open = file else { return }
    file = nil
    do {
      try open.close()
    } catch {
      unsafe unlink(temporary.string)
      throw Self.failure(error, "\(path): cannot write it", .ioError)
    }
    guard unsafe rename(temporary.string, path.string) == 0 else {
      let error = Errno(rawValue: errno)
      unsafe unlink(temporary.string)
      throw Self.failure(error, "\(path): cannot create it", .cannotCreate)
    }
  }

  private static func failure(
    _ error: any Error, _ what: String, _ status: CommandError.Status
  ) -> CommandError {
    let error = error as? Errno ?? .ioError
    let isFull = [.noSpace, .diskQuotaExceeded].contains(error)
    let remedy = isFull ? "make room" : "check the directory and its permissions"
    return CommandError(status, "\(what) (\(error)); \(remedy)")
  }
}
