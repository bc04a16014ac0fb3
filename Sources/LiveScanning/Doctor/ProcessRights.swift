import CXattr
import Glibc
import Sources

package struct ProcessRights: Hashable, Sendable {
  package var effective: UInt64
  /// The capabilities that it, or a file that it runs, can get.
  package var bounding = UInt64.max
  /// Whether the capabilities of files are ignored: no_new_privs.
  package var hasNoNewPrivileges = false
  package var isFiltered = false
  /// Whether its capabilities hold on the host, not only in a user namespace.
  package var isOnHost = true
  package var isRoot = false
  package var hasHostUser = true

  /// `CAP_NET_ADMIN`, for switching adapters on and off.
  package static var netAdmin: UInt64 { 1 << 12 }
  /// `CAP_NET_RAW`, for scanning and advertising.
  package static var netRaw: UInt64 { 1 << 13 }

  package var maySwitch: Bool { isOnHost && effective & Self.netAdmin != 0 }

  package var mayScan: Bool { isOnHost && effective & Self.netRaw != 0 }
}

extension ProcessRights {
  package static func current() -> ProcessRights {
    ProcessRights(
      status: text(of: "/proc/self/status") ?? "", userMap: text(of: "/proc/self/uid_map") ?? "",
      user: geteuid())
  }

  init(status: String, userMap: String, user: UInt32) {
    var fields: [Substring: Substring] = [:]
    for line in status.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { continue }
      fields[parts[0]] = parts[1].drop { $0 == "\t" || $0 == " " }
    }
    // The first namespace maps all users to themselves.
    let map = userMap.split { $0 == " " || $0 == "\n" }
    self.init(
      effective: fields["CapEff"].flatMap { UInt64($0, radix: 16) } ?? 0,
      bounding: fields["CapBnd"].flatMap { UInt64($0, radix: 16) } ?? 0,
      hasNoNewPrivileges: fields["NoNewPrivs"] == "1", isFiltered: fields["Seccomp"] == "2",
      isOnHost: map.isEmpty || map == ["0", "0", "4294967295"], isRoot: user == 0,
      hasHostUser: Self.hasHostUser(user, map.compactMap { Int($0) }))
  }

  /// Returns whether a user has the same number outside. A range: first inside, first outside,
  /// length.
  private static func hasHostUser(_ user: UInt32, _ map: [Int]) -> Bool {
    guard !map.isEmpty else { return true }
    return stride(from: 0, to: map.count - 2, by: 3).contains { start in
      map[start] == map[start + 1] && map[start] <= Int(user)
        && Int(user) - map[start] < map[start + 2]
    }
  }
}

/// The file of the running program, as far as its capabilities matter.
package struct ProgramFile: Hashable, Sendable {
  package var path: String
  package var hasCapabilities = false
  /// Whether its file system ignores them: nosuid.
  package var isIgnored = false
  /// Whether its file system can store them.
  package var canHaveCapabilities = true

  package static func current() -> ProgramFile {
    let path = linkTarget(of: "/proc/self/exe") ?? "beaconscan"
    // With a size of zero, nothing is written.
    let size = unsafe getxattr(path, "security.capability", nil, 0)
    let hasNoPlace = size < 0 && errno == EOPNOTSUPP
    var system = statvfs()
    // The structure outlives the call.
    let isKnown = unsafe statvfs(path, &system) == 0
    return ProgramFile(
      path: path, hasCapabilities: size > 0,
      isIgnored: isKnown && system.f_flag & UInt(ST_NOSUID) != 0,
      canHaveCapabilities: !hasNoPlace)
  }
}
