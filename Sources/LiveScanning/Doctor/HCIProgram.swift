import Glibc
import Sources

/// A program with open HCI sockets. The kernel does not show for which adapter.
package struct HCIProgram: Hashable, Sendable {
  package var process: Int32
  package var name: String
}

package struct HCIPrograms: Hashable, Sendable {
  package var programs: [HCIProgram] = []
  /// The users of sockets whose programs this process may not see, by number.
  package var unseenUsers: [UInt32] = []

  var isEmpty: Bool { programs.isEmpty && unseenUsers.isEmpty }
}

extension HCIPrograms: CustomStringConvertible {
  package static func current() -> HCIPrograms { HCIPrograms(procfs: "/proc") }

  init(procfs: String) {
    var users = Self.users(in: text(of: "\(procfs)/net/hci") ?? "")
    self.init()
    guard !users.isEmpty else { return }
    let own = linkTarget(of: "\(procfs)/self").flatMap { Int32($0) }
    for process in names(in: procfs).compactMap({ Int32($0) }).sorted() {
      let folder = "\(procfs)/\(process)/fd"
      var isOne = false
      for descriptor in names(in: folder) {
        guard let target = linkTarget(of: "\(folder)/\(descriptor)"),
          target.hasPrefix("socket:["), let inode = UInt64(target.dropFirst(8).dropLast())
        else { continue }
        if users.removeValue(forKey: inode) != nil { isOne = true }
      }
      guard isOne, process != own else { continue }
      programs.append(
        HCIProgram(process: process, name: firstLine(of: "\(procfs)/\(process)/comm") ?? "?"))
    }
    unseenUsers = users.sorted { $0.key < $1.key }.map(\.value)
  }

  /// Returns whether a list of all HCI sockets has only these, so no other program has to do with
  /// the scan.
  package static func hasOnly(_ descriptors: [Int32], in list: String?) -> Bool {
    guard let list else { return false }
    let own = Set(descriptors.compactMap(inode))
    return users(in: list).keys.allSatisfy(own.contains)
  }

  private static func inode(of descriptor: Int32) -> UInt64? {
    var status = stat()
    // The structure outlives the call.
    return unsafe fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : nil
  }

  /// Returns the user of each socket by inode: columns five and six, after a line of titles.
  static func users(in list: String) -> [UInt64: UInt32] {
    var users: [UInt64: UInt32] = [:]
    for line in list.split(separator: "\n").dropFirst() {
      let columns = line.split(separator: " ")
      guard columns.count >= 6, let user = UInt32(columns[4]), let inode = UInt64(columns[5]) else {
        continue
      }
      users[inode] = user
    }
    return users
  }

  /// The programs for a sentence: `bluetoothd (512), a program of user 0`.
  package var description: String {
    (programs.map { "\($0.name) (\($0.process))" }
      + unseenUsers.map { "a program of user \($0)" }).joined(separator: ", ")
  }
}
