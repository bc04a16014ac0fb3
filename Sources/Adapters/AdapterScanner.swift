import Glibc
package import Scanning
import Synchronization

/// What a scanner of adapters works with while it receives, used by one thread at a time.
package protocol AdapterReception: ~Copyable {
  /// What was counted so far.
  var counts: ScanCounts { get }
  /// Whether the adapters can be used, as far as their states show; `nil` before any is known, and at rest.
  var availability: ScannerAvailability? { get }

  /// Waits until something is received, the signal is sent or the deadline has come. What was received replaces what the array
  /// held.
  mutating func receive(
    for demand: ScanDemand, until deadline: MonotonicTime?, wakeSignal: borrowing WakeSignal,
    into sightings: inout [Sighting]
  ) -> ScanProgress

  /// Switches the scan off.
  mutating func rest()
}

/// A scanner on adapters of this machine, by one way to receive.
package final class AdapterScanner<Reception: AdapterReception & ~Copyable>: Scanner {
  private let adapters: AdapterSelection
  private let reception: Mutex<Reception>
  private let availabilityAtRest: @Sendable () -> ScannerAvailability
  private let wakeSignal = WakeSignal()
  private let counted = Mutex(ScanCounts())
  /// Whether the adapters can be used, and until when that holds.
  private let known = Mutex<(until: MonotonicTime, availability: ScannerAvailability)?>(nil)

  /// Creates a scanner, which touches no adapter before it receives. The closure asks the system whether the adapters can be
  /// used.
  package init(
    _ adapters: AdapterSelection, _ reception: consuming sending Reception,
    availability: @escaping @Sendable () -> ScannerAvailability
  ) {
    self.adapters = adapters
    self.reception = Mutex(reception)
    availabilityAtRest = availability
  }

  deinit { rest() }

  /// The adapters' names.
  package var name: String { adapters.description }

  /// Never: the radio does not wait for its client.
  package var isRecorded: Bool { false }

  /// Whether an adapter is there, may be used, and is on or can be switched on.
  ///
  /// While the scanner receives, this is what its adapters' states show; at rest, the system is asked once a second
  /// at most.
  package var availability: ScannerAvailability {
    known.withLock { known in
      let now = MonotonicTime.now
      if let known, now < known.until { return known.availability }
      let availability = availabilityAtRest()
      known = (now.advanced(by: MonotonicTime.nanosecondsPerSecond), availability)
      return availability
    }
  }

  /// What was counted so far.
  package var counts: ScanCounts { counted.withLock { $0 } }

  /// Waits until something is received or ``wake()`` is called: some seconds at most.
  ///
  /// It never throws: a fault is reported as health, and may pass.
  package func receive(
    for demand: ScanDemand, until deadline: MonotonicTime?, into sightings: inout [Sighting]
  ) throws -> ScanProgress {
    // The lock's closure can take the array only as its own.
    var own: [Sighting] = []
    swap(&own, &sightings)
    defer { swap(&own, &sightings) }
    let (progress, counts, availability) = reception.withLock { reception in
      let progress = reception.receive(
        for: demand, until: deadline, wakeSignal: wakeSignal, into: &own)
      return (progress, reception.counts, reception.availability)
    }
    counted.withLock { $0 = counts }
    if let availability {
      known.withLock { $0 = (MonotonicTime(nanoseconds: .max), availability) }
    }
    return progress
  }

  /// Ends a wait of ``receive(for:until:into:)``.
  package func wake() { wakeSignal.send() }

  /// Switches the scan off, and releases what was open for it.
  package func rest() {
    reception.withLock { $0.rest() }
    // What the adapters' states showed holds for a moment longer.
    let end = MonotonicTime.now.advanced(by: MonotonicTime.nanosecondsPerSecond)
    known.withLock { known in
      if let (until, availability) = known { known = (min(until, end), availability) }
    }
  }

  /// Rests at the end of the process, when a thread that receives may never return: waits for a third of a second
  /// at most.
  package func restIfPossible() {
    for _ in 0..<30 {
      if reception.withLockIfAvailable({ $0.rest() }) != nil { return }
      usleep(10_000)
    }
  }
}
