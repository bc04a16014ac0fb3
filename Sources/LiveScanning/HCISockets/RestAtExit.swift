import Glibc
import Scanning
import Synchronization

/// Ends scans at a process's normal end, because a controller continues to scan without its host.
enum RestAtExit {
  private struct Reference: Sendable {
    weak let scanner: HCIScanner?
  }

  private static let scanners = Mutex<[Reference]>([])

  private static let isRegistered: Bool = {
    // The closure captures nothing, and the function always exists.
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
