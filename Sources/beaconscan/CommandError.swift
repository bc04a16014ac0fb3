import CaptureFiles
import SystemPackage

/// Why the command ends without success: one sentence, and the status that `sysexits.h` gives its kind.
struct CommandError: Error {
  enum Status: Int32 {
    case usage = 64
    case badData = 65
    case noInput = 66
    case unavailable = 69
    case software = 70
    case cannotCreate = 73
    case ioError = 74
    case noPermission = 77
    case interrupted = 130

    /// The status of an input that cannot be opened or read.
    init(reading error: Errno) {
      self =
        switch error {
        case .permissionDenied, .notPermitted: .noPermission
        case .noSuchFileOrDirectory, .notDirectory, .isDirectory, .fileNameTooLong,
          .tooManySymbolicLinkLevels, .noSuchAddressOrDevice:
          .noInput
        default: .ioError
        }
    }
  }

  var status: Status
  /// What, where, and what to do.
  var message: String

  init(_ status: Status, _ message: String) {
    (self.status, self.message) = (status, message)
  }
}

extension CommandError {
  /// The status and sentence of a capture that cannot be read.
  init(_ error: CaptureError) {
    let status: Status =
      switch error.problem {
      case .cannotOpen(let error), .cannotRead(let error): Status(reading: error)
      default: .badData
      }
    self.init(status, "\(error)")
  }
}

extension CommandError {
  /// The status and sentence of an input file that cannot be read: its name, what cannot be done with it, and what to do.
  init(_ error: Errno, _ file: String, _ problem: String, _ remedy: String) {
    self.init(Status(reading: error), "\(file): \(problem) (\(error)); \(remedy)")
  }
}

/// The reader of our output went away: nothing is left to be done or reported.
struct ClosedPipe: Error {}
