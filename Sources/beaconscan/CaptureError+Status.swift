import CaptureFiles
import SystemPackage

extension CommandError {
  /// The status and sentence of a capture that cannot be read.
  init(_ error: CaptureError) {
    let status: Status =
      switch error.problem {
      case .cannotOpen(.noSuchFileOrDirectory), .cannotOpen(.notDirectory): .noInput
      case .cannotOpen(.permissionDenied), .cannotOpen(.notPermitted): .noPermission
      case .cannotOpen: .noInput
      case .cannotRead(.isDirectory): .noInput
      case .cannotRead: .ioError
      default: .badData
      }
    self.init(status, "\(error)")
  }
}
