import Foundation
import TestDaemons
import TestSupport
import Testing

@testable import AppDaemon

@Suite(.blocking) struct PeerProcessTests {
  /// The two ends of a connection, whose peer is this process.
  private final class Connection {
    private(set) var ends: [Int32]
    init() throws {
      var ends: [Int32] = [-1, -1]
      // The array outlives the call.
      try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
      self.ends = ends
    }
    deinit { for end in ends { close(end) } }
    func hangUp() { close(ends.removeLast()) }
    func send() {
      var byte: UInt8 = 1
      // The byte outlives the call.
      _ = unsafe Glibc.send(ends[1], &byte, 1, 0)
    }
  }

  @Test(arguments: [true, false]) func aPeerIsIdentified(usingPeerDescriptor: Bool) throws {
    let connection = try Connection()
    let peer = try PeerProcess(
      accepted: connection.ends[0], usingPeerDescriptor: usingPeerDescriptor)
    #expect(peer.process == getpid())
    #expect(peer.app.user == getuid())
    #expect(peer.isAlive && peer.mark.isRunning)
    #expect(!ProcessMark(process: peer.process, startTime: peer.startTime + 1).isRunning)
    // Other tests may run as a unit.
    if peer.app.strength == .claim, !peer.app.identifier.hasPrefix("user:") {
      #expect(
        peer.app.identifier
          == (try FileManager.default.destinationOfSymbolicLink(
            atPath: "/proc/self/exe")))
    }
    let stat = try String(contentsOfFile: "/proc/self/stat", encoding: .utf8)
    #expect(stat.contains(" \(peer.startTime) "))
  }

  @Test func aPeerConfirmsItselfByAnAnswer() throws {
    let connection = try Connection()
    let peer = try PeerProcess(accepted: connection.ends[0], usingPeerDescriptor: false)
    #expect(peer.needsConfirmation)
    #expect(throws: PeerError.unconfirmed(process: getpid())) {
      try peer.confirm(on: connection.ends[0])
    }
    connection.send()
    try peer.confirm(on: connection.ends[0])
    // The answer was not read.
    var byte: UInt8 = 0
    // The byte outlives the call.
    #expect(unsafe recv(connection.ends[0], &byte, 1, Int32(MSG_DONTWAIT)) == 1)
  }

  @Test func bytesThatCameBeforeConfirmNothing() throws {
    let connection = try Connection()
    connection.send()
    let peer = try PeerProcess(accepted: connection.ends[0], usingPeerDescriptor: false)
    #expect(throws: PeerError.unconfirmed(process: getpid())) {
      try peer.confirm(on: connection.ends[0])
    }
  }

  @Test func aClosedConnectionHasNoPeer() throws {
    let connection = try Connection()
    connection.hangUp()
    #expect(throws: PeerError.ended) {
      try PeerProcess(accepted: connection.ends[0], usingPeerDescriptor: false)
    }
  }

  @Test func somethingElseThanASocketHasNoPeer() {
    #expect(throws: PeerError.failed(call: "getsockopt", error: ENOTSOCK)) {
      try PeerProcess(accepted: 0)
    }
    #expect(throws: PeerError.failed(call: "getsockopt", error: EBADF)) {
      try PeerProcess(accepted: -1)
    }
  }

  private static let manager = "/user.slice/user-54321.slice/user@54321.service/app.slice"

  /// The groups are the kernel's; systemd makes them with the same names.
  @Test(
    .enabled(if: Peer.canGroup, "control groups cannot be made here: it needs root"),
    arguments: [
      (
        "/system.slice/beaconscan-test.service", "beaconscan-test.service",
        AppIdentity.Strength.systemUnit
      ),
      (
        "\(manager)/app-flatpak-com.example.App-1.scope", "flatpak:com.example.App",
        .sandbox
      ),
      // A name that the user gave is not that of a unit of the system.
      ("\(manager)/beaconscan-test.service", "user:beaconscan-test.service", .claim),
      ("/beaconscan-test.service", "/usr/bin/perl", .claim),
    ], [true, false])
  func theKernelNamesTheControlGroup(
    group: (path: String, identifier: String, strength: AppIdentity.Strength),
    usingPeerDescriptor: Bool
  ) throws {
    let peer = try Peer(group: group.path, usingPeerDescriptor: usingPeerDescriptor)
    #expect(
      peer.process.app
        == AppIdentity(group.identifier, strength: group.strength, user: 65534))
    peer.kill()
    #expect(!peer.process.isAlive && !peer.process.mark.isRunning)
  }

  /// Set `BEACONSCAN_LONG=1` for 10,000 tries.
  @Test(.enabled(if: canForce, "numbers of processes cannot be forced here: it needs root"))
  func aNumberThatWasGivenAgainIsNeverTakenForTheApp() throws {
    let isLong = ProcessInfo.processInfo.environment["BEACONSCAN_LONG"] == "1"
    let tests = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent()
    let output = Pipe()
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/unshare")
    process.arguments = [
      "-pf", "--kill-child", "--mount-proc", "python3",
      URL(filePath: #filePath).deletingLastPathComponent().appending(path: "races.py").path,
      tests.appending(path: "app-daemon-run").path, isLong ? "10000" : "200",
    ]
    process.standardOutput = output
    process.standardError = output
    let run = try StartedProcess(process)
    let text = String(
      decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    run.wait()
    print(text)
    #expect(run.status == 0, "\(text)")
  }

  private static let canForce: Bool = {
    let script = "echo 100 >/proc/sys/kernel/ns_last_pid && python3 --version"
    let test = ["/usr/bin/unshare", "-pf", "--kill-child", "--mount-proc", "sh", "-c", script]
    return (try? runTool(test)) != nil
  }()
}
