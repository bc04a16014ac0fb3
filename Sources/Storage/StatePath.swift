import Glibc
package import SystemPackage

/// The paths of databases, by the XDG Base Directory Specification 0.8, and system calls on names.
package enum StatePath {
  /// The longest name used unchanged, in bytes. File systems allow 255, and suffixes are added.
  private static let longestName = 180

  /// Returns an application's file: `$XDG_STATE_HOME/corelocation/ID.sqlite`, or below
  /// `$HOME/.local/state` where that variable is not an absolute path.
  package static func file(
    for application: String, variable: (String) -> String? = environmentVariable
  ) throws(StorageError) -> FilePath {
    guard !application.isEmpty else {
      throw StorageError(file: "(no file)", problem: .noIdentifier)
    }
    let state = try home(application, variable)
    return state.appending("corelocation").appending("\(name(of: application)).sqlite")
  }

  /// Returns the history's file, which may not exist, in systemd's `STATE_DIRECTORY`, else in
  /// `/var/lib/beaconscan` if this user can read it there, else in the user's state directory.
  package static func history(
    system: FilePath = "/var/lib/beaconscan",
    variable: (String) -> String? = environmentVariable
  ) throws(StorageError) -> FilePath {
    let name = "history.sqlite"
    // systemd separates several directories with colons.
    if let first = variable("STATE_DIRECTORY")?.split(separator: ":").first,
      FilePath(String(first)).isAbsolute
    {
      return FilePath(String(first)).appending(name)
    }
    let shared = system.appending(name)
    switch access(shared, R_OK) {
    case nil: return shared
    case .permissionDenied?:
      // The unreadable file is returned if there is no other, so that an error names it.
      guard let own = try? home("the history", variable).appending("beaconscan").appending(name),
        exists(own)
      else { return shared }
      return own
    default: return try home("the history", variable).appending("beaconscan").appending(name)
    }
  }

  private static func home(
    _ what: String, _ variable: (String) -> String?
  ) throws(StorageError) -> FilePath {
    // The specification says to ignore relative paths.
    if let path = variable("XDG_STATE_HOME").map({ FilePath($0) }), path.isAbsolute { return path }
    if let path = variable("HOME").map({ FilePath($0) }), path.isAbsolute {
      return path.appending(".local/state")
    }
    throw StorageError(file: what, problem: .noHome)
  }

  private static func access(_ path: FilePath, _ rights: Int32) -> Errno? {
    let result = unsafe path.withPlatformString {
      unsafe faccessat(AT_FDCWD, $0, rights, AT_EACCESS) == 0 ? 0 : errno
    }
    return result == 0 ? nil : Errno(rawValue: result)
  }

  static func isWritable(_ directory: FilePath) -> Bool { access(directory, W_OK | X_OK) == nil }

  /// Returns whether a file system has more than 16 MiB free, which a transaction never needs.
  static func hasRoom(_ path: FilePath) -> Bool {
    var status = statvfs()
    // The structure outlives the call.
    let result = unsafe path.withPlatformString { unsafe statvfs($0, &status) }
    return result == 0 && UInt64(status.f_bavail) * UInt64(status.f_frsize) > 16 << 20
  }

  static func isReadable(_ file: FilePath) -> Bool { access(file, R_OK) == nil }

  package static func isFile(_ path: String) -> Bool { exists(FilePath(path)) }

  package static func environmentVariable(_ name: String) -> String? {
    // The string is copied at once.
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }

  /// Returns the identifier as a file name, unique to it, with escaped bytes.
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
    // The hash distinguishes long identifiers.
    let hash = String(application.fnv1a, radix: 16, uppercase: true)
    return name.prefix(longestName - 17) + "%" + hash
  }

  /// Returns a file's absolute path without symbolic links, valid in any working directory.
  static func resolve(_ given: FilePath) throws(StorageError) -> FilePath {
    guard let name = given.lastComponent, name.kind == .regular else {
      throw StorageError(file: given.string, problem: .notAFile)
    }
    if let path = realPath(given) { return path }
    // The dot requires a directory.
    guard let directory = realPath(given.removingLastComponent().appending(".")) else {
      throw .failed("open", given)
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

  /// Creates a directory and its missing parents, for this user alone.
  static func makeDirectory(_ path: FilePath) throws(StorageError) {
    var made = FilePath(root: path.root)
    for component in path.components {
      made.append(component)
      let error = unsafe made.withPlatformString { unsafe mkdir($0, 0o700) == 0 ? 0 : errno }
      if error == 0 {
        try sync(made.removingLastComponent())
      } else if error != EEXIST, !exists(made) {
        // Some file systems report another error for a directory that exists.
        throw .failed("create", made, Errno(rawValue: error))
      }
    }
  }

  /// Replaces a file, or makes it, for this user alone: at each moment, also of a power cut, it has
  /// the former bytes or the new ones.
  package static func replace(_ file: String, with bytes: [UInt8]) throws(StorageError) {
    let path = FilePath(file)
    let new = path.beside(".new")
    do {
      let descriptor = try FileDescriptor.open(
        new, .writeOnly, options: [.create, .truncate, .closeOnExec], permissions: .ownerReadWrite)
      try descriptor.closeAfter {
        try descriptor.writeAll(bytes)
        guard fsync(descriptor.rawValue) == 0 else { throw Errno(rawValue: errno) }
      }
    } catch {
      throw .failed("write", new, error)
    }
    try rename(new, to: path)
    let folder = path.removingLastComponent()
    try sync(folder.isEmpty ? "." : folder)
  }

  static func sync(_ directory: FilePath) throws(StorageError) {
    do {
      let descriptor = try FileDescriptor.open(
        directory, .readOnly, options: [.directory, .closeOnExec])
      try descriptor.closeAfter {
        // File systems that do not support this have nothing to wait for.
        guard fsync(descriptor.rawValue) == 0 || errno == EINVAL else {
          throw Errno(rawValue: errno)
        }
      }
    } catch {
      throw .failed("write", directory, error)
    }
  }

  /// Returns whether a name exists, even as a symbolic link to nothing.
  static func exists(_ path: FilePath) -> Bool {
    (try? path.stat(followTargetSymlink: false)) != nil
  }

  static func rename(_ old: FilePath, to new: FilePath) throws(StorageError) {
    // Both names are terminated and outlive the call.
    let isDone = unsafe old.withPlatformString { old in
      unsafe new.withPlatformString { unsafe Glibc.rename(old, $0) == 0 }
    }
    guard isDone else { throw .failed("rename", old) }
  }

  /// Renames a database whose contents another one has taken over.
  package static func setAside(_ path: String) throws(StorageError) {
    try rename(FilePath(path), to: FilePath(path).beside(".taken-over"))
  }

  static func remove(_ path: FilePath) {
    _ = unsafe path.withPlatformString { unsafe unlink($0) }
  }
}

extension FilePath {
  func beside(_ suffix: String) -> FilePath { FilePath(string + suffix) }

  /// The first 64 bytes of a file, as text; `nil` if it cannot be read.
  var firstText: String? {
    guard let file = try? FileDescriptor.open(self, .readOnly, options: .closeOnExec) else {
      return nil
    }
    defer { try? file.close() }
    var room = [UInt8](repeating: 0, count: 64)
    // The array's memory is used only during the call.
    guard let count = unsafe room.withUnsafeMutableBytes({ try? unsafe file.read(into: $0) })
    else { return nil }
    return String(decoding: room.prefix(count), as: UTF8.self)
  }
}

extension String {
  /// The FNV-1a hash, which is stored in files.
  var fnv1a: UInt64 {
    utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}
