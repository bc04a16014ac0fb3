internal import FoundationEssentials
package import Fusion
internal import Glibc

/// The site files of a directory: every file with the extension `toml`.
package struct SiteDirectory {
  /// A file that cannot be used.
  package struct Fault: Hashable, Sendable, CustomStringConvertible {
    package var file: String
    package var message: String

    package var description: String { "\(file): \(message)" }
  }

  package let path: String
  /// The sites by their names.
  package private(set) var sites: [String: Site] = [:]
  /// The files of the sites, by the sites' names.
  package private(set) var files: [String: String] = [:]
  package private(set) var faults: [Fault] = []
  /// The hashes of the files, by the sites' names: 64-bit FNV-1a.
  package private(set) var revisions: [String: UInt64] = [:]
  private var versions: [String: FileVersion] = [:]

  /// Reads the files of a directory.
  package init(_ path: String) {
    self.path = path
    refresh()
  }

  /// Reads the files again if one has changed, and returns whether a site or a fault has. A site
  /// whose file has an error now stays as it was.
  @discardableResult
  package mutating func refresh() -> Bool {
    let before = (revisions, faults)
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: path)
        .filter { $0.hasSuffix(".toml") && !$0.hasPrefix(".") }.sorted()
    } catch {
      faults = [Fault(file: path, message: "the directory cannot be read")]
      return faults != before.1
    }
    let found = Dictionary(
      names.compactMap { name in FileVersion("\(path)/\(name)").map { (name, $0) } },
      uniquingKeysWith: { $1 })
    guard found != versions || versions.isEmpty else { return false }
    versions = found
    read(names)
    return revisions != before.0 || faults != before.1
  }

  private mutating func read(_ names: [String]) {
    let former = files
    let formerSites = sites
    let formerRevisions = revisions
    (sites, files, faults, revisions) = ([:], [:], [], [:])
    for name in names {
      let file = "\(path)/\(name)"
      var site: Site?
      var revision: UInt64 = 0
      if let bytes = FileManager.default.contents(atPath: file) {
        do throws(SiteFileError) {
          site = try Site(parsing: Array(bytes))
          revision = bytes.reduce(0xCBF2_9CE4_8422_2325) {
            ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3
          }
        } catch {
          faults.append(Fault(file: file, message: "\(error)"))
        }
      } else {
        faults.append(Fault(file: file, message: "the file cannot be read"))
      }
      if site == nil, let known = former.first(where: { $0.value == file })?.key {
        site = formerSites[known]
        revision = formerRevisions[known] ?? 0
      }
      guard let site else { continue }
      if let other = files[site.name] {
        faults.append(
          Fault(file: file, message: "the site \(site.name) is in \(other) already"))
      } else {
        sites[site.name] = site
        files[site.name] = file
        revisions[site.name] = revision
      }
    }
  }
}

/// The size and the time of a file, by which a change is noticed.
struct FileVersion: Equatable {
  let size: Int
  private let seconds: Int
  private let nanoseconds: Int

  init?(_ path: String) {
    var status = stat()
    // The path and the structure outlive the call.
    guard unsafe stat(path, &status) == 0 else { return nil }
    size = Int(status.st_size)
    (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
  }
}
