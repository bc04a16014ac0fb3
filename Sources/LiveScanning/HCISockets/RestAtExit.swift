import Glibc
import Scanning
import Synchronization

/// Switches scans off where a process returns from its main program, or calls `exit`, while it receives: a
/// controller scans on without its host. What kills a process leaves the scan on.
enum RestAtExit {
  private struct Reference: Sendable {
    weak let scanner: HCIScanner?
  }

  private static let scanners = Mutex<[Reference]>([])

  private static let isRegistered: Bool = {
    // It takes no more than the function, which stays.
    atexit { RestAtExit.restAll() } == 0
  }()

  static func add(_ scanner: HCIScanner) {
    _ = isRegistered
    scanners.withLock { scanners in
      scanners.removeAll { $0.scanner == nil }
      scanners.append(Reference(scanner: scanner))
    }
  }

  private static func restAll() {
    let all = scanners.withLock { $0.map(\.scanner) }
    for scanner in all { scanner?.restIfPossible() }
  }
}
