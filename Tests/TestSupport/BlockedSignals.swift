import Glibc

/// Starts a process with no signal blocked: a child inherits what the thread that starts it blocks, and the
/// threads of a pool block signals.
package func withoutBlockedSignals(_ body: () throws -> Void) rethrows {
  var none = sigset_t()
  var before = sigset_t()
  // The sets outlive the calls.
  unsafe sigemptyset(&none)
  unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
  defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
  try body()
}
