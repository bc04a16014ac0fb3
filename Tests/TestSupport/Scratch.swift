package import Foundation

/// A directory that is removed when it is no longer used, and at the end of the process at the latest.
package final class Scratch: Sendable {
  package let folder: URL

  /// The directory of all of this process.
  private static let root = FileManager.default.temporaryDirectory
    .appending(path: "beaconscan-tests-\(ProcessInfo.processInfo.processIdentifier)")

  /// A store may make another file in a directory while that is removed.
  private static let removesAtExit: Void = {
    _ = atexit { try? FileManager.default.removeItem(at: Scratch.root) }
  }()

  /// One that stays to the end of the process.
  static var forProcess: Scratch { get throws { try shared.get() } }
  private static let shared = Result { try Scratch() }

  package init() throws {
    _ = Self.removesAtExit
    folder = Self.root.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  /// A file's path.
  package subscript(name: String) -> String { folder.appending(path: name).path }

  package func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: folder.appending(path: name)))
  }

  package func makeFolder(_ name: String) throws {
    try FileManager.default.createDirectory(atPath: self[name], withIntermediateDirectories: true)
  }

  package func write(_ bytes: [UInt8], _ name: String) throws {
    try Data(bytes).write(to: folder.appending(path: name))
  }

  package var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
  }

  /// The permissions of a file in it, or below a path.
  package func permissions(_ name: String) throws -> Int? {
    let attributes = try FileManager.default.attributesOfItem(atPath: self[name])
    return (attributes[.posixPermissions] as? NSNumber)?.intValue
  }
}
