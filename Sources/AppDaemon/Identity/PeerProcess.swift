import CPidfd
import Glibc
import Scanning

/// The process at the other end of a Unix socket, identified when its connection was accepted.
///
/// The kernel's descriptor of the process (`pidfd_open(2)`) refers to this process alone, also
/// after its number was given to another one. Everything that is read from `/proc/PID` counts only
/// if the process has not ended afterwards.
package final class PeerProcess: Sendable {
  package let app: AppIdentity
  /// The number of the process in this process's namespace.
  package let process: Int32
  /// The process's start, in clock ticks since the system's start (proc_pid_stat(5)).
  package let startTime: UInt64
  /// The kernel's descriptor of the process, readable when the process has ended. This value owns
  /// it.
  package let descriptor: Int32
  /// Whether ``confirm(on:)`` is needed before the app is trusted, as before Linux 6.5.
  ///
  /// There the kernel names the process only by its number. A program could hand its connection to
  /// a child and end, and its number could be given to another program before this value was
  /// created.
  package let needsConfirmation: Bool
  /// Whether the process is in a namespace of processes below this one, or cannot gain privileges,
  /// as in a container and in most sandboxes: its program and its arguments may mean another program
  /// here.
  package let isContained: Bool
  /// Whether the peer had sent bytes before this value was created.
  private let spokeEarly: Bool

  /// Identifies the peer of an accepted connection, from which nothing was read yet. Where
  /// `usingPeerDescriptor`, the kernel is asked for the peer's descriptor (`SO_PEERPIDFD`, Linux
  /// 6.5), and not only for its number.
  package init(accepted socket: Int32, usingPeerDescriptor: Bool = true) throws(PeerError) {
    var peer = cpidfd_credentials()
    try Self.option(SO_PEERCRED, of: socket, &peer)
    let user = peer.uid
    process = peer.pid
    // A process of a namespace that is not below this one has no number here.
    guard process > 0 else { throw .unknown }

    var descriptor: Int32 = -1
    var isExact = usingPeerDescriptor
    if isExact {
      do throws(PeerError) {
        try Self.option(Self.peerDescriptor, of: socket, &descriptor)
      } catch .failed(_, ENOPROTOOPT) {
        isExact = false
      }
    }
    if !isExact {
      // From now on each byte comes with its sender.
      var isOn: Int32 = 1
      // The number outlives the call, which can fail only for a descriptor that is not a socket.
      unsafe setsockopt(
        socket, SOL_SOCKET, SO_PASSCRED, &isOn, socklen_t(MemoryLayout<Int32>.size))
      descriptor = cpidfd_open(process)
      guard descriptor >= 0 else { throw PeerError(call: "pidfd_open", errno) }
    }
    self.descriptor = descriptor
    needsConfirmation = !isExact
    spokeEarly = !isExact && cpidfd_next_sender(socket) != 0

    let folder = "/proc/\(process)"
    let groups = text(of: "\(folder)/cgroup")
    let program = linkTarget(of: "\(folder)/exe")
    let name = text(of: "\(folder)/comm")
    let status = text(of: "\(folder)/status")?.split(separator: "\n")
    // The effective user, the second number of its line.
    let owner = status?.first { $0.hasPrefix("Uid:") }?.split(separator: "\t").dropFirst(2).first
    // One number for each namespace below this one.
    let numbers = status?.first { $0.hasPrefix("NSpid:") }?.split(separator: "\t").count ?? 0
    isContained = numbers > 2 || status?.contains("NoNewPrivs:\t1") == true
    // Read last: a process that ends loses its program and its groups first.
    let state = text(of: "\(folder)/stat").flatMap(State.init)
    startTime = state?.startTime ?? 0
    app =
      groups.flatMap { AppIdentity(controlGroups: $0, user: user) }
      ?? AppIdentity(program: program, name: name ?? "", user: user)
    guard isAlive, state?.isEnding != true else { throw .ended }
    guard groups != nil, state != nil else { throw .unreadable(process: process) }
    guard !isExact else { return }
    // Another process that took over the number is another user's, or the connection has ended.
    guard owner.flatMap({ UInt32($0) }) == user, Self.events(of: socket) & POLLHUP == 0 else {
      throw .ended
    }
  }

  deinit { close(descriptor) }

  package var isAlive: Bool { Self.events(of: descriptor) == 0 }

  /// Whether the process must not act for its user outside of a sandbox or a container.
  var isConfined: Bool {
    app.strength == .sandbox || app.strength == .claim && isContained
  }

  /// Confirms, where ``needsConfirmation``, that this process holds the connection.
  ///
  /// Send the peer a greeting, and call this when its answer is readable and nothing of it was read
  /// yet. The kernel states the number of the process that sent the answer. It did so while this
  /// process lived, so the sender is this process.
  package func confirm(on socket: Int32) throws(PeerError) {
    guard needsConfirmation else { return }
    let sender = cpidfd_next_sender(socket)
    // The other end may have closed the connection without a word.
    let isOver = sender == 0 && Self.events(of: socket) & POLLHUP != 0
    guard isAlive, !isOver || spokeEarly else { throw .ended }
    guard !spokeEarly, sender == process else { throw .unconfirmed(process: process) }
  }

  /// The process, for a time without its descriptor.
  var mark: ProcessMark { ProcessMark(process: process, startTime: startTime) }

  private static let peerDescriptor: Int32 = 77

  private static func option<Value: BitwiseCopyable>(
    _ option: Int32, of socket: Int32, _ value: inout Value
  ) throws(PeerError) {
    var size = socklen_t(MemoryLayout<Value>.size)
    // The value outlives the call, which knows its size.
    guard unsafe getsockopt(socket, SOL_SOCKET, option, &value, &size) == 0 else {
      throw PeerError(call: "getsockopt", errno)
    }
  }

  private static func events(of descriptor: Int32) -> Int32 {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    // The entry outlives the call.
    _ = unsafe poll(&entry, 1, 0)
    return Int32(entry.revents)
  }

  /// The line of `/proc/PID/stat` (proc_pid_stat(5)).
  fileprivate struct State {
    let startTime: UInt64
    let isEnding: Bool

    init?(_ line: String) {
      // The second field, in parentheses, may contain spaces and parentheses.
      guard let end = line.lastIndex(of: ")") else { return nil }
      let fields = line[end...].split(separator: " ")
      guard fields.count > 20, let flags = UInt32(fields[7]), let startTime = UInt64(fields[20])
      else { return nil }
      self.startTime = startTime
      // PF_EXITING
      isEnding = flags & 4 != 0
    }
  }
}

/// A process by its number and its start, a pair that the system hardly gives twice, also after
/// another start of the system.
struct ProcessMark: Codable, Hashable, Sendable {
  let process: Int32
  let startTime: UInt64

  var isRunning: Bool {
    let state = text(of: "/proc/\(process)/stat").flatMap(PeerProcess.State.init)
    return state?.startTime == startTime && state?.isEnding == false
  }
}

/// The reason that a peer is not identified.
package enum PeerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The process has ended.
  case ended
  /// The process is in a namespace that this process cannot see.
  case unknown
  /// `/proc` does not show the process's control groups.
  case unreadable(process: Int32)
  /// Another process may hold the connection.
  case unconfirmed(process: Int32)
  case failed(call: String, error: Int32)

  fileprivate init(call: String, _ error: Int32) {
    // A process without a descriptor has ended.
    self = [ESRCH, EINVAL, ENODATA].contains(error) ? .ended : .failed(call: call, error: error)
  }

  package var description: String {
    switch self {
    case .ended: "the program that connected has ended"
    case .unknown: "the program that connected runs in a container that cannot be seen from here"
    case .unreadable(let process):
      "/proc/\(process)/cgroup cannot be read: /proc must show the processes of all users "
        + "(in a unit: ProtectProc=default)"
    case .unconfirmed(let process):
      "process \(process) connected, but another program may hold the connection"
    case .failed(let call, let error):
      // The text is copied at once.
      "\(call): \(unsafe String(cString: strerror(error)))"
    }
  }
}
