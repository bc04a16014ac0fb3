import Glibc

/// The most that one user may have of something, so that one user does not take all.
package struct UserLimit: Sendable {
  /// The most of root, and of the user of this process.
  package var own: Int
  /// The most of each other user.
  package var others: Int

  package init(own: Int, others: Int) {
    self.own = own
    self.others = others
  }

  package subscript(user: UInt32) -> Int { user == 0 || user == geteuid() ? own : others }
}
