import Foundation

/// A directory that is gone when it is no longer used.
final class Scratch {
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "store-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  /// A file's path.
  subscript(name: String) -> String { folder.appending(path: name).path }

  func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: folder.appending(path: name)))
  }

  func makeFolder(_ name: String) throws {
    try FileManager.default.createDirectory(atPath: self[name], withIntermediateDirectories: true)
  }

  func write(_ bytes: [UInt8], _ name: String) throws {
    try Data(bytes).write(to: folder.appending(path: name))
  }

  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
  }

  /// The permissions of a file in it, or below a path.
  func permissions(_ name: String) throws -> Int? {
    let attributes = try FileManager.default.attributesOfItem(atPath: self[name])
    return (attributes[.posixPermissions] as? NSNumber)?.intValue
  }
}
