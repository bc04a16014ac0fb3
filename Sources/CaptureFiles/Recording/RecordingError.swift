package import SystemPackage

package struct RecordingError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Problem: Error, Hashable, Sendable {
    case failed(call: String, Errno)
    case cannotCreate(Errno)
    case exists, removed, noReader, tooSlow

    /// Returns `true` if a person who knows the other problem learns nothing new from this one.
    func isSame(as other: Self) -> Bool {
      // A full disk refuses one call after another.
      if case (.failed(_, let error), .failed(_, let otherError)) = (self, other) {
        return error == otherError
      }
      return self == other
    }
  }

  package var file: String
  package var problem: Problem

  package var description: String {
    switch problem {
    case .cannotCreate(.isDirectory): "\(file): it is a directory; name a file in it"
    case .cannotCreate(let error):
      "\(file): cannot create it (\(error)); check the directory and its permissions"
    case .failed("unlink", let error):
      "\(file): cannot remove the oldest recording (\(error)); remove it, or the disk may fill"
    case .failed(_, let error): "\(file): cannot record (\(error)); \(Self.advice(error))"
    case .exists: "\(file): there is such a file already; name another, or replace it with --force"
    case .removed: "\(file): it was removed while it was recorded; recording goes on in a new file"
    case .noReader: "\(file): its reader went away; recording is over"
    case .tooSlow:
      "\(file): the disk writes packets more slowly than they arrive; "
        + "use a faster one, and see what else writes to it"
    }
  }

  private static func advice(_ error: Errno) -> String {
    switch error {
    case .noSpace, .diskQuotaExceeded, .fileTooLarge:
      "make room there, then recording goes on by itself"
    case .permissionDenied, .notPermitted, .readOnlyFileSystem:
      "make the directory writable for this user, or name another file"
    case .noSuchFileOrDirectory, .notDirectory:
      "see that the directory is there, then recording goes on by itself"
    default: "see whether the disk is well"
    }
  }
}
