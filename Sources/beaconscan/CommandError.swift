import CaptureFiles
import LocationSources
import Scanning
import SystemPackage

/// An error that ends the command: one sentence, and a status of `sysexits.h`.
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
  var message: String

  init(_ status: Status, _ message: String) {
    self.status = status
    self.message = message
  }
}

extension CommandError {
  init(_ error: any Error, of source: String) {
    switch error {
    case let error as CaptureError: self.init(error)
    case let error as TrackError: self.init(error)
    default: self.init(.unavailable, "\(source): \(error)")
    }
  }

  init(_ error: CaptureError) {
    let status: Status =
      switch error.problem {
      case .cannotOpen(let error), .cannotRead(let error): Status(reading: error)
      default: .badData
      }
    let isTrack = error.problem == .notACapture && RecordingFormat.isTrack(error.file) == true
    self.init(status, isTrack ? "\(TrackError.track(file: error.file))" : "\(error)")
  }

  init(_ error: TrackError) {
    if case .file(let error) = error {
      self.init(error)
    } else {
      self.init(.badData, "\(error)")
    }
  }
}

extension CommandError {
  /// Creates the error for a source that cannot be used, or returns `nil` if it can. With `waits`,
  /// it may become available later.
  init?(_ availability: ScannerAvailability, waits: Bool = false) {
    switch availability {
    case .available: return nil
    case .notPermitted(let sentence): self.init(.noPermission, sentence)
    case .unavailable where waits: return nil
    case .unavailable(let sentence): self.init(.unavailable, sentence)
    }
  }

  /// The error for a source that continues without a reader of its results.
  static var readerGone: CommandError {
    CommandError(
      .ioError, "standard output: the program that read it has closed it; start both again")
  }
}

extension CommandError {
  init(_ error: Errno, _ file: String, _ problem: String, _ remedy: String) {
    self.init(Status(reading: error), "\(file): \(problem) (\(error)); \(remedy)")
  }
}

/// The error for an output whose reader has gone. Nothing remains to do or to report.
struct ClosedPipe: Error {}
