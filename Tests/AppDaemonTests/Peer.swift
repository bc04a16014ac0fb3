import AppDaemon
import Foundation
import TestDaemons
import TestSupport
import Testing

/// A program of the user nobody that has connected to a socket of the tests.
final class Peer {
  let process: PeerProcess
  private let daemon: Daemon
  private let group: String?

  /// Starts the program, in a control group of the system if a path is given, and identifies it.
  init(group: String? = nil, usingPeerDescriptor: Bool = true) throws {
    self.group = group
    // Not in a test's folder, which the user may not be able to enter.
    let path = "/tmp/beaconscan-peer-\(UUID().uuidString)"
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer {
      close(listener)
      // The path outlives the call.
      unsafe unlink(path)
    }
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    // The structure outlives the calls.
    unsafe withUnsafeMutableBytes(of: &name.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    let result = unsafe withUnsafePointer(to: &name) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(unsafe result == 0 && listen(listener, 1) == 0 && chmod(path, 0o777) == 0)
    var command = [
      "/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
      "/usr/bin/perl", "-MIO::Socket::UNIX", "-e",
      "$s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die; sleep 600", path,
    ]
    if let group {
      // Another test may remove a folder that is empty for a moment.
      let join = """
        n=0
        until mkdir -p $g && echo $$ >$g/cgroup.procs; do
          n=$((n + 1))
          [ $n -lt 100 ] || exit 1
          sleep 0.1
        done
        exec "$@"
        """
      command = Self.inGroups(join, group) + command
    }
    let daemon = try Daemon(command)
    self.daemon = daemon
    var entry = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
    // The entry outlives the call.
    let isThere = eventually { unsafe poll(&entry, 1, 0) == 1 || !daemon.isRunning }
    try #require(isThere && daemon.isRunning)
    let connection = accept(listener, nil, nil)
    defer { close(connection) }
    process = try PeerProcess(accepted: connection, usingPeerDescriptor: usingPeerDescriptor)
  }

  deinit {
    kill()
    guard let group else { return }
    // The folders that other processes use stay.
    _ = try? runTool(Self.inGroups("cd /mnt && rmdir -p .$0 2>/dev/null; true", group))
  }

  func kill() { daemon.kill() }

  /// Whether this process may make control groups.
  static let canGroup: Bool = {
    let make = inGroups("mkdir -p $g && echo $$ >$g/cgroup.procs", "/beaconscan-test")
    defer { _ = try? runTool(inGroups("rmdir $g", "/beaconscan-test")) }
    return (try? runTool(make)) != nil
  }()

  /// Returns a command that runs a script where `$g` is the folder of a control group.
  private static func inGroups(_ script: String, _ group: String) -> [String] {
    let mount = "mount -t cgroup2 none /mnt && g=/mnt$0 && "
    return ["/usr/bin/unshare", "-m", "sh", "-c", mount + script, group]
  }
}
