import SystemPackage

/// Faults are reported once, and again only after a recovery.
extension RecordingSeries {
  /// The number of good batches, five seconds of them, that end a fault.
  private static let batchesOfHealth = 10

  mutating func fail(_ problem: RecordingError.Problem) {
    goodBatches = 0
    guard status.failure?.problem.isSame(as: problem) != true else { return }
    let file = configuration.path == "-" ? "standard output" : configuration.path
    let error = RecordingError(file: file, problem: problem)
    status.failure = error
    // Nobody needs to know that a pipe's reader has gone.
    if problem != .noReader { remark(error.description) }
  }

  /// Counts packets that were dropped before they arrived, because the disk was too slow.
  mutating func drop(_ count: Int) {
    status.lost += count
    fail(.tooSlow)
  }

  mutating func recover() {
    guard let failure = status.failure, goodBatches >= Self.batchesOfHealth else { return }
    status.failure = nil
    let lost = status.lost == 1 ? "1 packet was" : "\(status.lost) packets were"
    remark("\(failure.file): recording goes on; \(lost) lost so far")
  }
}

extension RecordingError.Problem {
  /// Returns `true` if a person who knows the other problem learns nothing new from this one.
  fileprivate func isSame(as other: Self) -> Bool {
    // A full disk refuses one call after another.
    if case (.failed(_, let error), .failed(_, let otherError)) = (self, other) {
      return error == otherError
    }
    return self == other
  }
}

extension RecordingCallError {
  var problem: RecordingError.Problem {
    switch errno {
    case .fileExists: .exists
    case .brokenPipe: .noReader
    default: .failed(call: call, errno)
    }
  }
}
