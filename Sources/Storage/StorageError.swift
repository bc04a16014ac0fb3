import CSQLite
import Glibc
package import SystemPackage

/// The reason why a store cannot be opened or written, as one sentence for the app's user.
package struct StorageError: Error, Hashable, Sendable {
  package enum Problem: Hashable, Sendable {
    /// What was tried, as a verb, and the system's error.
    case failed(call: String, Errno)
    case sqlite(code: Int32, String)
    /// Another store uses the file: its process's identifier and name, if they are known.
    case inUse(process: Int32?, name: String?)
    /// The path leads to a directory, a pipe or a link to nothing.
    case notAFile
    case foreign(Foreign)
    /// A newer version wrote the database: its schema's version and the newest known one.
    case newer(version: Int64, known: Int)
    case damaged(String)
    /// Neither `XDG_STATE_HOME` nor `HOME` names an absolute directory.
    case noHome
    case noIdentifier
    /// A key, definition, state or payload exceeds its bound.
    case tooLong(bytes: Int, maximum: Int = Store.maximumBytes)
    case queueFull
    case closed
    /// The history's log cannot be read in a directory that cannot be written.
    case unreadableLog
  }

  package enum Foreign: Hashable, Sendable {
    case unknown
    case noHistory
    case otherDatabase
    /// A journal of regions of a version without a database.
    case regionJournal
  }

  /// The file or directory, or the application's identifier if there is none.
  package var file: String
  package var problem: Problem

  /// Whether the disk is full, read-only or failing, which may end without a change by the user.
  package var isOfDisk: Bool {
    switch problem {
    case .failed(_, let error):
      [.noSpace, .diskQuotaExceeded, .readOnlyFileSystem, .ioError].contains(error)
    case .sqlite(let code, _): [SQLITE_FULL, SQLITE_READONLY, SQLITE_IOERR].contains(code & 0xFF)
    case .queueFull: true
    default: false
    }
  }

  /// Creates the error of a system call, by default of the one that failed last.
  static func failed(
    _ call: String, _ path: FilePath, _ error: any Error = Errno(rawValue: errno)
  ) -> StorageError {
    StorageError(
      file: path.string, problem: .failed(call: call, error as? Errno ?? .ioError))
  }
}

extension StorageError: CustomStringConvertible {
  package var description: String {
    switch problem {
    case .failed(let call, let error):
      "\(file): cannot \(call) it (\(error)); \(Self.advice(error))"
    case .sqlite(let code, let message):
      "\(file): SQLite failed with code \(code) (\(message)); check the file system and the file's "
        + "permissions"
    case .inUse(let process, let name):
      "\(file): \(Self.process(process, name)) uses this file; stop it first, or name another file"
    case .notAFile:
      "\(file): it is not a regular file; name one that is, or one that does not exist yet"
    case .foreign(.unknown):
      "\(file): it is not a state database, and it was not changed; name another file, or one that "
        + "does not exist yet"
    case .foreign(.noHistory):
      "\(file): it is not a history that beaconscan wrote, and it was not changed; name another file"
    case .foreign(.otherDatabase):
      "\(file): it is the SQLite database of another application, and it was not changed; name "
        + "another file, or one that does not exist yet"
    case .foreign(.regionJournal):
      "\(file): it has the format of an earlier version, which is no longer read, and it was not "
        + "changed; move it away or name another file, and register the regions again"
    case .newer(let version, let known):
      "\(file): it has version \(version) of the schema and this program knows versions up to "
        + "\(known); use a newer program, or name another file"
    case .damaged(let message):
      "\(file): the database is damaged (\(message)); restore a copy of it, or move it away"
    case .noHome:
      "\(file): neither XDG_STATE_HOME nor HOME names an absolute directory for the state; set one "
        + "of them"
    case .noIdentifier:
      "\(file): the application identifier is empty; give one, such as org.example.kiosk"
    case .tooLong(let bytes, let maximum):
      "\(file): a key or value takes \(bytes) bytes and at most \(maximum) are stored; shorten it"
    case .queueFull:
      "\(file): \(Store.maximumWaitingChanges) changes wait for the disk; write again when it "
        + "responds"
    case .closed: "\(file): the store was closed; open it again"
    case .unreadableLog:
      "\(file)-wal: this log has entries that cannot be read in a directory that cannot be written; "
        + "copy it and \(file) to one that can, and name the copy"
    }
  }

  private static func process(_ process: Int32?, _ name: String?) -> String {
    guard let process else { return "another process" }
    return name.map { "process \(process) (\($0))" } ?? "process \(process)"
  }

  private static func advice(_ error: Errno) -> String {
    switch error {
    case .noSpace, .diskQuotaExceeded, .fileTooLarge:
      "free some space there; until then changes are not stored"
    case .permissionDenied, .notPermitted, .readOnlyFileSystem:
      "make the directory writable for this user, or name another file"
    case .noSuchFileOrDirectory, .notDirectory: "check that the directory exists"
    case .fileNameTooLong: "name another file"
    default: "check the file system and the file's permissions"
    }
  }
}
