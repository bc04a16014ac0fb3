public import Scanning
import Synchronization

/// How well the radio hears.
extension LocationServices {
  /// How well each adapter hears: what is so now, then every change, as it comes.
  ///
  /// A quiet room and a deaf radio look alike to delegates; this tells them apart.
  ///
  /// ```swift
  /// for await health in LocationServices.shared.health where health.condition.isFault {
  ///   print(health.sentence)
  /// }
  /// ```
  ///
  /// Each listener has its own sequence. A new one is first given the latest of each adapter that was told
  /// of; nothing is known before something is listened to. Of a listener that is slow, the newest 64 changes
  /// wait, and the oldest go. `ScannerHealth.time` is what the clock on the wall showed. The
  /// sequence ends where nothing more will be heard. Apple's systems have no such member.
  public var health: AsyncStream<ScannerHealth> {
    AsyncStream(bufferingPolicy: .bufferingNewest(HealthBoard.mostWaiting)) { continuation in
      let (number, isOver) = state.withLock { state in
        (state.health.add(continuation), state.hasToldEnd)
      }
      guard !isOver else { return endHealth() }
      continuation.onTermination = { [weak self] _ in
        self?.state.withLock { $0.health.remove(listener: number) }
      }
    }
  }

  /// Ends every sequence of health.
  func endHealth() {
    // Not under the lock: an end calls what comes back to it.
    for listener in state.withLock({ $0.health.takeListeners() }) { listener.finish() }
  }
}

extension ServiceState {
  /// Takes a change in how well the scanner hears.
  ///
  /// - Returns: The calls that tell of a fault.
  mutating func note(_ change: ScannerHealth) -> [DelegateCall] {
    var shown = change
    shown.time = change.time.advanced(by: wallClockShift)
    guard health.note(shown) else { return [] }
    // What is being asked cannot be found out now; a region that is monitored is told when it can.
    return giveUpQuestions() + clients.values.flatMap { callsTellingFault(to: $0) }
  }

  /// The call that tells one manager of the present fault what it bears on: once for each fault, and of
  /// faults that come faster than its delegate takes them, the latest.
  private func callsTellingFault(to client: Client) -> [DelegateCall] {
    guard let sentence = health.fault?.sentence else { return [] }
    let ranged = client.ranged
    let regions = Array(self.regions.values)
    guard !ranged.isEmpty || !regions.isEmpty, client.faults.put(sentence) else { return [] }
    return [
      call(client) { [faults = client.faults] manager in
        guard let sentence = faults.take() else { return }
        for (constraint, region) in ranged {
          manager.tellFailure(
            of: CLBeaconIdentityConstraint(constraint), in: region,
            CLError(.rangingUnavailable, sentence))
        }
        for region in regions {
          manager.tellFailure(of: region, CLError(.regionMonitoringFailure, sentence))
        }
      }
    ]
  }
}

/// What a delegate is to be told of the latest fault, while that is on its way to it.
final class FaultInFlight: Sendable {
  private let sentence = Mutex<String?>(nil)

  /// Puts a fault on its way.
  ///
  /// - Returns: Whether a call is needed: none is on its way.
  func put(_ latest: String) -> Bool {
    sentence.withLock { sentence in
      defer { sentence = latest }
      return sentence == nil
    }
  }

  /// It has arrived.
  func take() -> String? {
    sentence.withLock { sentence in
      defer { sentence = nil }
      return sentence
    }
  }
}
