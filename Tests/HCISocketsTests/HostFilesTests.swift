import Foundation
import HCIPackets
import TestSupport
import Testing

@testable import LiveScanning

/// What the kernel's files say, as they are on a real host and as they could be.
@Suite struct HostFilesTests {
  @Test func rights() {
    let status =
      "Name:\tbeaconscan\nCapEff:\t0000000000002000\nCapBnd:\t000001ffffffffff\n"
      + "NoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t3\n"
    let map = "         0          0 4294967295\n"
    let rights = ProcessRights(status: status, userMap: map, user: 1000)
    #expect(
      rights
        == ProcessRights(
          effective: ProcessRights.netRaw, bounding: 0x1FF_FFFF_FFFF, hasNoNewPrivileges: true,
          isFiltered: true))
    #expect(rights.mayScan)
    let inside = ProcessRights(status: status, userMap: "0 1000 1\n", user: 0)
    #expect(!inside.mayScan && !inside.isOnHost && inside.isRoot && !inside.hasHostUser)
    let nothing = ProcessRights(status: "", userMap: "", user: 1000)
    #expect(!nothing.mayScan && nothing.isOnHost && nothing.hasHostUser)
  }

  /// Podman's map with `--userns keep-id`, and users that have no number outside, or that is no map at all.
  @Test(arguments: [
    ("0 1 1000\n1000 1000 1\n1001 1001 64536\n", 1000, true),
    ("0 1 1000\n1000 0 1\n1001 1001 64536\n", 1000, false),
    ("0 0 1\n", 5, false), ("0 0", 0, false), ("x y z\n", 0, true),
  ])
  func users(map: String, user: UInt32, isSame: Bool) {
    #expect(ProcessRights(status: "", userMap: map, user: user).hasHostUser == isSame)
  }

  /// Lines of Linux 6.1; the list has one for each socket.
  @Test func sockets() {
    let list = """
      sk               RefCnt Rmem   Wmem   User   Inode  Parent
      00000000e1d6a1f4 2      0      0      0      14213  0     \n00000000aa61cb4d 2      0      0      1000   14999  0
      a b c
      """
    #expect(HCIPrograms.users(in: list) == [14213: 0, 14999: 1000])
    #expect(HCIPrograms.users(in: "").isEmpty)
  }

  /// Which process has which socket, by its descriptors.
  @Test func programs() throws {
    let files = FileManager.default
    let procfs = files.temporaryDirectory.appending(path: "procfs-\(UUID().uuidString)")
    defer { try? files.removeItem(at: procfs) }
    func process(_ number: Int, _ name: String, sockets: [Int]) throws {
      let folder = procfs.appending(path: "\(number)/fd")
      try files.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data("\(name)\n".utf8).write(to: procfs.appending(path: "\(number)/comm"))
      for (descriptor, inode) in sockets.enumerated() {
        try files.createSymbolicLink(
          atPath: folder.appending(path: "\(descriptor)").path,
          withDestinationPath: "socket:[\(inode)]")
      }
    }
    try process(1, "init", sockets: [])
    try process(7, "bluetoothd", sockets: [99, 100, 101])
    try process(8, "self", sockets: [102])
    try files.createSymbolicLink(
      atPath: procfs.appending(path: "self").path, withDestinationPath: "8")
    try files.createDirectory(
      at: procfs.appending(path: "net"), withIntermediateDirectories: true)
    let list =
      "sk RefCnt Rmem Wmem User Inode Parent\n"
      + [100, 101, 102, 103].map { "0 2 0 0 \($0) \($0) 0\n" }.joined()
    try Data(list.utf8).write(to: procfs.appending(path: "net/hci"))
    let found = HCIPrograms(procfs: procfs.path)
    #expect(
      found
        == HCIPrograms(
          programs: [HCIProgram(process: 7, name: "bluetoothd")], unseenUsers: [103]))
    #expect("\(found)" == "bluetoothd (7), a program of user 103")
  }

  /// USB interfaces as sysfs shows them.
  @Test func devicesWithoutDriver() throws {
    let files = FileManager.default
    let usb = files.temporaryDirectory.appending(path: "usb-\(UUID().uuidString)")
    defer { try? files.removeItem(at: usb) }
    func interface(_ name: String, _ numbers: [String], driver: Bool) throws {
      let folder = usb.appending(path: name)
      try files.createDirectory(at: folder, withIntermediateDirectories: true)
      let fields = ["bInterfaceClass", "bInterfaceSubClass", "bInterfaceProtocol"]
      for (field, number) in zip(fields, numbers) {
        try Data("\(number)\n".utf8).write(to: folder.appending(path: field))
      }
      if driver {
        try files.createSymbolicLink(
          atPath: folder.appending(path: "driver").path, withDestinationPath: folder.path)
      }
    }
    try interface("1-1:1.0", ["e0", "01", "01"], driver: false)
    try interface("1-1:1.1", ["e0", "01", "01"], driver: false)
    try interface("1-2:1.0", ["e0", "01", "01"], driver: true)
    try interface("1-3:1.0", ["08", "06", "50"], driver: false)
    #expect(HostView.idleDevices(in: usb.path) == ["1-1:1.0"])
    #expect(HostView.idleDevices(in: "/nonexistent").isEmpty)
  }

  /// This host, whatever it is: it is looked at without harm, and what is said of it fits together.
  @Test func here() {
    let host = HostView.current()
    #expect(!host.release.isEmpty)
    #expect(host.program.path.hasPrefix("/"))
    #expect(host.socketError == 0 || host.radios.isEmpty)
    #expect(!Doctor.examine(host).isEmpty)
  }
}
