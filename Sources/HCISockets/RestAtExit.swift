import Glibc
import Synchronization

/// Switches scans off where a process returns from its main program, or calls `exit`, while it receives: a
/// controller scans on without its host. What kills a process leaves the scan on.
enum RestAtExit {
  private struct Reference: Sendable {
    weak let scanner: HCIScanner?
  }

  private static let scanners = Mutex<[ObjectIdentifier: Reference]>([:])

  private static let isRegistered: Bool = {
    // It takes no more than the function, which stays.
    atexit { RestAtExit.restAll() } == 0
  }()

  static func add(_ scanner: HCIScanner) {
    _ = isRegistered
    scanners.withLock { $0[ObjectIdentifier(scanner)] = Reference(scanner: scanner) }
  }

  static func remove(_ scanner: HCIScanner) {
    _ = scanners.withLock { $0.removeValue(forKey: ObjectIdentifier(scanner)) }
  }

  private static func restAll() {
    let all = scanners.withLock { $0.values.map(\.scanner) }
    for scanner in all { scanner?.restIfPossible() }
  }
}
