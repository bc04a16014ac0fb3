import CDBus
import Glibc

/// libdbus, which is loaded when it is first used, and never unloaded.
@safe struct DBusLibrary: @unchecked Sendable {
  // The table never changes, and libdbus is prepared for several threads.
  fileprivate var table = cdbus()
  private var failure: BusError?

  fileprivate static let shared = DBusLibrary()

  private init() {
    // The table outlives the call, and the system's text is copied at once.
    guard unsafe cdbus_load(&table) == 0 else { return }
    let reason = unsafe dlerror().map { unsafe String(cString: $0) } ?? "it cannot be prepared"
    failure = .invalid(
      reason: "libdbus cannot be loaded (\(reason)); install it: apt-get install libdbus-1-3")
  }

  /// Throws ``BusError/invalid(reason:)`` if ``dbus`` cannot be used, which callers check first.
  static func check() throws(BusError) {
    if let failure = shared.failure { throw failure }
  }
}

var dbus: cdbus { DBusLibrary.shared.table }
