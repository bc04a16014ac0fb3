public import SystemPackage

/// Why regions cannot be kept, and where: one sentence for the person who runs the app.
public struct StoreError: Error, Hashable, Sendable {
  /// What is wrong.
  public enum Problem: Hashable, Sendable {
    /// A system call failed: its name, and how.
    case failed(call: String, Errno)
    /// Another store has the file: the process's identifier and name where they are known.
    case inUse(process: Int32?, name: String?)
    /// It is no regular file, such as a directory or a pipe.
    case notAFile
    /// Neither `XDG_STATE_HOME` nor `HOME` names a directory.
    case noHome
    /// An application identifier without any character.
    case noIdentifier
    /// A region, event or value takes more than a line may hold, in bytes.
    case tooLong(bytes: Int)
    /// The file would grow beyond what is read again.
    case full
  }

  /// The file or directory; what was asked for where there is none.
  public var file: String
  /// What is wrong.
  public var problem: Problem

  /// Makes an error.
  public init(file: String, problem: Problem) {
    (self.file, self.problem) = (file, problem)
  }
}

extension StoreError: CustomStringConvertible {
  /// What, where, and what to do, in one sentence.
  public var description: String {
    switch problem {
    case .failed(let call, let error):
      return
        "\(file): \(call) failed with errno \(error.rawValue) (\(error)); \(Self.advice(error))"
    case .inUse(let process, let name):
      guard let process else {
        return "\(file): another process keeps its regions in this file; stop it first"
      }
      let who = name.map { "process \(process) (\($0))" } ?? "process \(process)"
      return "\(file): \(who) keeps its regions in this file; stop it first, or name another file"
    case .notAFile:
      return "\(file): it is not a regular file; name one that is, or one that is not there yet"
    case .noHome:
      return "\(file): neither XDG_STATE_HOME nor HOME names an absolute directory to keep regions "
        + "in; set one of them"
    case .noIdentifier:
      return "\(file): the application identifier is empty; give one"
    case .tooLong(let bytes):
      return
        "\(file): a region or value takes \(bytes) bytes and at most \(JournalLine.longest) can "
        + "be kept; shorten its identifier"
    case .full:
      return "\(file): the regions would take more than \(Journal.mostBytes >> 20) MiB; remove some"
    }
  }

  private static func advice(_ error: Errno) -> String {
    switch error {
    case .noSpace, .diskQuotaExceeded, .fileTooLarge:
      "make room there; until then changes are not kept"
    case .permissionDenied, .notPermitted, .readOnlyFileSystem:
      "make the directory writable for this user, or name another file"
    case .noSuchFileOrDirectory, .notDirectory:
      "check that the directory exists"
    default:
      "check the file system and the file's permissions"
    }
  }
}
