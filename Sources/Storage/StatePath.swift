import Glibc
package import SystemPackage

/// The place of an application's database, by the XDG Base Directory Specification 0.8, and the system calls on
/// names.
package enum StatePath {
  /// The longest name that is used unchanged, in bytes: file systems take 255, and suffixes follow.
  private static let longestName = 180

  /// Returns the file for an application, such as `org.example.kiosk`: `$XDG_STATE_HOME/corelocation/ID.sqlite`,
  /// below `$HOME/.local/state` where that variable is not set to an absolute path.
  package static func file(
    for application: String, variable: (String) -> String? = environmentVariable
  ) throws(StorageError) -> FilePath {
    guard !application.isEmpty else {
      throw StorageError(file: "(no file)", problem: .noIdentifier)
    }
    let state = try home(application, variable)
    return state.appending("corelocation").appending("\(name(of: application)).sqlite")
  }

  /// Returns the history's file: `history.sqlite` in the directory that systemd gives the service
  /// (`STATE_DIRECTORY`), in `/var/lib/beaconscan` where it is there, or in `$XDG_STATE_HOME/beaconscan`, below
  /// `$HOME/.local/state` where that variable is not set to an absolute path.
  ///
  /// - Parameters:
  ///   - isForWriting: Whether the file is going to be written: one of the system that this user may only read is
  ///     not chosen.
  ///   - system: The service's directory.
  ///   - variable: Returns a variable's value.
  /// - Returns: The file, which may not exist.
  /// - Throws: `StorageError` where no directory is known.
  package static func history(
    forWriting isForWriting: Bool, system: FilePath = "/var/lib/beaconscan",
    variable: (String) -> String? = environmentVariable
  ) throws(StorageError) -> FilePath {
    let name = "history.sqlite"
    // systemd separates several directories by colons.
    if let first = variable("STATE_DIRECTORY")?.split(separator: ":").first,
      FilePath(String(first)).isAbsolute
    {
      return FilePath(String(first)).appending(name)
    }
    let shared = system.appending(name)
    switch access(shared, isForWriting ? R_OK | W_OK : R_OK) {
    case nil: return shared
    case .permissionDenied? where !isForWriting:
      // What cannot be read is named where there is nothing else.
      guard let own = try? home("the history", variable).appending("beaconscan").appending(name),
        exists(own)
      else { return shared }
      return own
    default: return try home("the history", variable).appending("beaconscan").appending(name)
    }
  }

  /// Returns the user's directory of states.
  private static func home(
    _ what: String, _ variable: (String) -> String?
  ) throws(StorageError) -> FilePath {
    // A relative path is invalid and ignored, says the specification.
    if let path = variable("XDG_STATE_HOME").map({ FilePath($0) }), path.isAbsolute { return path }
    if let path = variable("HOME").map({ FilePath($0) }), path.isAbsolute {
      return path.appending(".local/state")
    }
    throw StorageError(file: what, problem: .noHome)
  }

  /// Returns why a file cannot be used; `nil` if it can.
  private static func access(_ path: FilePath, _ rights: Int32) -> Errno? {
    let result = unsafe path.withPlatformString {
      unsafe faccessat(AT_FDCWD, $0, rights, AT_EACCESS) == 0 ? 0 : errno
    }
    return result == 0 ? nil : Errno(rawValue: result)
  }

  /// Returns whether files can be made in a directory.
  static func isWritable(_ directory: FilePath) -> Bool { access(directory, W_OK | X_OK) == nil }

  /// Returns whether a file system has more room than a transaction needs.
  static func hasRoom(_ path: FilePath) -> Bool {
    var status = statvfs()
    // The structure outlives the call.
    let result = unsafe path.withPlatformString { unsafe statvfs($0, &status) }
    return result == 0 && UInt64(status.f_bavail) * UInt64(status.f_frsize) > 16 << 20
  }

  /// Returns whether a file can be read.
  static func isReadable(_ file: FilePath) -> Bool { access(file, R_OK) == nil }

  /// Returns whether there is a file of a name.
  package static func isFile(_ path: String) -> Bool { exists(FilePath(path)) }

  /// Returns the value of a variable of this process's environment.
  package static func environmentVariable(_ name: String) -> String? {
    // The string is copied at once.
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }

  /// Returns the identifier as a file name: what is no ASCII letter, digit, `-`, `_` or inner `.` becomes `%` and
  /// two digits, so that two identifiers never share a file.
  private static func name(of application: String) -> String {
    var name = ""
    for (index, byte) in application.utf8.enumerated() {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        name.unicodeScalars.append(UnicodeScalar(byte))
      case UInt8(ascii: ".") where index > 0: name += "."
      default: name += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    guard name.utf8.count > longestName else { return name }
    // FNV-1a distinguishes long ones.
    let hash = application.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01B3
    }
    return name.prefix(longestName - 17) + "%" + String(hash, radix: 16, uppercase: true)
  }

  /// Returns a file's absolute path without symbolic links: it stays right when the working directory changes.
  static func resolve(_ given: FilePath) throws(StorageError) -> FilePath {
    guard let name = given.lastComponent, name.kind == .regular else {
      throw StorageError(file: given.string, problem: .notAFile)
    }
    if let path = realPath(given) { return path }
    // The dot says that it must be a directory.
    guard let directory = realPath(given.removingLastComponent().appending(".")) else {
      throw .failed("realpath", given)
    }
    return directory.appending(name)
  }

  private static func realPath(_ path: FilePath) -> FilePath? {
    unsafe path.withPlatformString { name in
      guard let resolved = unsafe realpath(name, nil) else { return nil }
      defer { unsafe free(resolved) }
      return unsafe FilePath(platformString: resolved)
    }
  }

  /// Makes a directory and those above it, for this user alone.
  static func makeDirectory(_ path: FilePath) throws(StorageError) {
    var made = FilePath(root: path.root)
    for component in path.components {
      made.append(component)
      let error = unsafe made.withPlatformString { unsafe mkdir($0, 0o700) == 0 ? 0 : errno }
      if error == 0 {
        try sync(made.removingLastComponent())
      } else if error != EEXIST, !exists(made) {
        // Some file systems refuse before they look whether it exists.
        throw .failed("mkdir", made, Errno(rawValue: error))
      }
    }
  }

  /// Waits until the directory's names are on the disk.
  static func sync(_ directory: FilePath) throws(StorageError) {
    do {
      let descriptor = try FileDescriptor.open(
        directory, .readOnly, options: [.directory, .closeOnExec])
      try descriptor.closeAfter {
        // Some file systems cannot, and say so: they have nothing to wait for.
        guard fsync(descriptor.rawValue) == 0 || errno == EINVAL else {
          throw Errno(rawValue: errno)
        }
      }
    } catch {
      throw .failed("fsync", directory, error)
    }
  }

  /// Returns whether a name exists; a symbolic link to nothing does.
  static func exists(_ path: FilePath) -> Bool {
    (try? path.stat(followTargetSymlink: false)) != nil
  }

  /// Gives a file another name, in place of the file that has it.
  static func rename(_ old: FilePath, to new: FilePath) throws(StorageError) {
    // Both names are terminated and outlive the call.
    let isDone = unsafe old.withPlatformString { old in
      unsafe new.withPlatformString { unsafe Glibc.rename(old, $0) == 0 }
    }
    guard isDone else { throw .failed("rename", old) }
  }

  /// Removes a name, if it exists.
  /// Gives a database whose contents another one has taken over a name of its own.
  package static func setAside(_ path: String) throws(StorageError) {
    try rename(FilePath(path), to: FilePath(path).beside(".taken-over"))
  }

  static func remove(_ path: FilePath) {
    _ = unsafe path.withPlatformString { unsafe unlink($0) }
  }
}

extension FilePath {
  /// Returns the file of the same name with something behind it.
  func beside(_ suffix: String) -> FilePath { FilePath(string + suffix) }
}
