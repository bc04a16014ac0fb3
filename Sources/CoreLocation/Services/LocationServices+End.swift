import Synchronization

/// The end of what is heard.
extension LocationServices {
  /// Waits until nothing more will be heard, and every delegate has been told all that was.
  ///
  /// A recording comes to its end; a radio does so only when it fails for good. It also ends where nothing
  /// hears beacons at all. No end comes as long as nothing is asked for: a recording waits for its listener.
  ///
  /// ```swift
  /// try await LocationServices.shared.ended()
  /// ```
  ///
  /// as the last line of a program's main file keeps it at work until then, and serves the main thread's
  /// delegates. Apple's systems have no such call, as their radios have no end.
  ///
  /// - Throws: What is wrong with the recording or the radio; ``CLError/Code/rangingUnavailable`` where
  ///   nothing hears beacons; `CancellationError` when the task is cancelled.
  public func ended() async throws {
    guard scanner != nil else { throw CLError(.rangingUnavailable, Self.nothingHears) }
    let end = AsyncStream<Never> { continuation in
      let number = state.withLock { $0.end(waiter: continuation) }
      guard let number else { return continuation.finish() }
      continuation.onTermination = { [weak self] _ in
        self?.state.withLock { _ = $0.waiters.removeValue(forKey: number) }
      }
    }
    for await _ in end {}
    try Task.checkCancellation()
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  /// Tells who waits that nothing more will be heard, if that is so.
  func tellEnd() {
    guard state.withLock({ $0.end != nil }) else { return }
    calls.wait()
    let waiters = state.withLock { state in
      state.hasToldEnd = true
      defer { state.waiters.removeAll() }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.finish() }
    endHealth()
  }

  static let nothingHears =
    "nothing hears beacons: name a recording in BEACONSCAN_REPLAY, or give the services a scanner"
}

extension ServiceState {
  /// Takes one who waits for the end.
  ///
  /// - Returns: The number by which it goes; `nil` if the end has come.
  fileprivate mutating func end(waiter: AsyncStream<Never>.Continuation) -> UInt64? {
    guard !hasToldEnd else { return nil }
    latestWaiter += 1
    waiters[latestWaiter] = waiter
    return latestWaiter
  }
}
