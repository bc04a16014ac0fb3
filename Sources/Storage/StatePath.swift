import Glibc
package import SystemPackage

/// The place of an application's database, by the XDG Base Directory Specification 0.8, and the system
/// calls on names.
package enum StatePath {
  /// The longest name that is used unchanged, in bytes: file systems take 255, and suffixes follow.
  private static let longestName = 180

  /// Returns the file for an application: `$XDG_STATE_HOME/corelocation/ID.sqlite`, below
  /// `$HOME/.local/state` where that variable is not set to an absolute path.
  ///
  /// - Parameters:
  ///   - application: The application, such as `org.example.kiosk`.
  ///   - variable: Returns the value of an environment variable.
  /// - Returns: The file's path.
  /// - Throws: ``StorageError`` if there is no home directory or no identifier.
  package static func file(
    for application: String, variable: (String) -> String? = environmentVariable
  ) throws(StorageError) -> FilePath {
    guard !application.isEmpty else {
      throw StorageError(file: "(no file)", problem: .noIdentifier)
    }
    let state: FilePath
    // A relative path is invalid and ignored, says the specification.
    if let path = variable("XDG_STATE_HOME").map({ FilePath($0) }), path.isAbsolute {
      state = path
    } else if let path = variable("HOME").map({ FilePath($0) }), path.isAbsolute {
      state = path.appending(".local/state")
    } else {
      throw StorageError(file: application, problem: .noHome)
    }
    return state.appending("corelocation").appending("\(name(of: application)).sqlite")
  }

  /// Returns the value of a variable of this process's environment.
  package static func environmentVariable(_ name: String) -> String? {
    // The string is copied at once.
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }

  /// Returns the identifier as a file name: what is no ASCII letter, digit, `-`, `_` or inner `.`
  /// becomes `%` and two digits, so that two identifiers never share a file.
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

  /// Returns a file's absolute path without symbolic links: it stays right when the working directory
  /// changes.
  ///
  /// - Parameters:
  ///   - given: The file.
  ///   - makesDirectory: Whether a directory that is missing is made. Of a path that a person wrote, it may
  ///     be a slip.
  /// - Returns: The path.
  /// - Throws: ``StorageError`` where it leads to no file.
  static func resolve(_ given: FilePath, makesDirectory: Bool) throws(StorageError) -> FilePath {
    guard case .regular = given.lastComponent?.kind else {
      throw StorageError(file: given.string, problem: .notAFile)
    }
    if let path = realPath(given) { return path }
    let directory = given.removingLastComponent()
    if makesDirectory { try makeDirectory(directory) }
    guard let directory = realPath(directory.isEmpty ? "." : directory),
      let name = given.lastComponent
    else { throw .failed("realpath", given) }
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
  private static func makeDirectory(_ path: FilePath) throws(StorageError) {
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
    let name = directory.isEmpty ? "." : directory
    let descriptor = unsafe name.withPlatformString {
      unsafe open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }
    guard descriptor >= 0 else { throw .failed("open", name) }
    defer { close(descriptor) }
    // Some file systems cannot, and say so: they have nothing to wait for.
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw .failed("fsync", name) }
  }

  /// Returns whether a name exists; a symbolic link to nothing does.
  static func exists(_ path: FilePath) -> Bool {
    var status = stat()
    return unsafe path.withPlatformString { unsafe lstat($0, &status) == 0 }
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
  static func remove(_ path: FilePath) {
    _ = unsafe path.withPlatformString { unsafe unlink($0) }
  }
}

extension FilePath {
  /// Returns the file of the same name with something behind it.
  func beside(_ suffix: String) -> FilePath { FilePath(string + suffix) }
}
