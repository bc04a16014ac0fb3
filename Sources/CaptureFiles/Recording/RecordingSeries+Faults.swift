import SystemPackage

/// What is wrong is said once, and again when it had been well in between.
extension RecordingSeries {
  /// After so many batches, five seconds of them, a fault is over.
  private static let batchesOfHealth = 10

  /// Something is wrong.
  mutating func fail(_ problem: RecordingError.Problem) {
    goodBatches = 0
    guard status.failure?.problem.isSame(as: problem) != true else { return }
    let file = configuration.path == "-" ? "standard output" : configuration.path
    let error = RecordingError(file: file, problem: problem)
    status.failure = error
    // That nobody reads any more is no news for anybody.
    if problem != .noReader { remark(error.description) }
  }

  /// Packets did not even come so far: the disk was too slow for them.
  mutating func drop(_ count: Int) {
    status.lost += count
    fail(.tooSlow)
  }

  /// A batch is done; is it well again?
  mutating func recover() {
    guard let failure = status.failure, goodBatches >= Self.batchesOfHealth else { return }
    status.failure = nil
    let lost = status.lost == 1 ? "1 packet was" : "\(status.lost) packets were"
    remark("\(failure.file): recording goes on; \(lost) lost so far")
  }
}

extension RecordingError.Problem {
  /// Whether the one problem states nothing new to a person that knows of the other.
  fileprivate func isSame(as other: Self) -> Bool {
    // A full disk refuses one call and then another.
    if case (.failed(_, let error), .failed(_, let otherError)) = (self, other) {
      return error == otherError
    }
    return self == other
  }
}

extension RecordingCallError {
  /// What it means for the recording.
  var problem: RecordingError.Problem {
    switch errno {
    case .fileExists: .exists
    case .brokenPipe: .noReader
    default: .failed(call: call, errno)
    }
  }
}
