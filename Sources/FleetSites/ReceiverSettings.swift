import Advertising
internal import FoundationEssentials
internal import Fusion
internal import TOMLDocuments

/// The configurations of receivers in a folder: `SITE.toml` for all receivers of a site, and
/// `SITE.RECEIVER.toml` in its place for one of them.
package struct ReceiverSettings: Sendable {
  package typealias Fault = SiteDirectory.Fault

  package let path: String
  /// The faults of the files, by their names.
  private var faultsByName: [String: Fault] = [:]
  /// The texts by the names of the files. One that has an error now stays as it was.
  private var texts: [String: [UInt8]] = [:]
  /// The files as they were at the last look, and as they were when they were read.
  private var seen: [String: FileVersion] = [:]
  private var read: [String: FileVersion] = [:]
  private let maximumLength: Int

  /// Creates the configurations of a folder, which need not exist.
  package init(_ path: String, maximumLength: Int) {
    self.path = path
    self.maximumLength = maximumLength
  }

  package var isEmpty: Bool { texts.isEmpty }
  package var faults: [Fault] { faultsByName.sorted { $0.key < $1.key }.map(\.value) }

  /// Looks at the files, and returns whether one has changed. A file counts when two looks have found
  /// it the same, as it is written in parts.
  package mutating func refresh() -> Bool {
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
      .filter { $0.hasSuffix(".toml") && !$0.hasPrefix(".") }
    let found = Dictionary(
      names.compactMap { name in FileVersion("\(path)/\(name)").map { (name, $0) } },
      uniquingKeysWith: { $1 })
    let new = found.filter { seen[$0.key] == $0.value && read[$0.key] != $0.value }
    let gone = read.keys.filter { found[$0] == nil }
    seen = found
    guard !new.isEmpty || !gone.isEmpty else { return false }
    for name in gone { (texts[name], read[name], faultsByName[name]) = (nil, nil, nil) }
    for (name, version) in new {
      read[name] = version
      faultsByName[name] = readFile(name, version).map {
        Fault(file: "\(path)/\(name)", message: $0)
      }
    }
    return true
  }

  /// Reads a file, and returns the reason that it cannot be used, or `nil`.
  private mutating func readFile(_ name: String, _ version: FileVersion) -> String? {
    guard version.size <= maximumLength,
      let text = FileManager.default.contents(atPath: "\(path)/\(name)").map({ Array($0) }),
      text.count <= maximumLength
    else { return "it cannot be read, or has more than \(maximumLength >> 10) KiB" }
    let document = TOMLDocument(text)
    if let problem = document.problems.first {
      return "\(document.position(of: problem.offset)): \(problem.message)"
    }
    texts[name] = text
    return nil
  }

  /// Returns the configurations of a site's receivers, by their names, with the names of the site's
  /// beacons. Receivers that no file is for have none.
  package func texts(at file: SiteFile) -> [String: [UInt8]] {
    let site = file.site.name
    var common: [UInt8]?
    return Dictionary(
      file.site.receivers.compactMap { receiver in
        if let own = texts["\(site).\(receiver.name).toml"] {
          return (receiver.name, named(own, file))
        }
        common = common ?? texts["\(site).toml"].map { named($0, file) }
        return common.map { (receiver.name, $0) }
      }, uniquingKeysWith: { $1 })
  }

  /// The files that are for no receiver of some site files.
  package func strays(besides files: some Sequence<SiteFile>) -> [String] {
    var known: Set<String> = []
    for file in files {
      known.insert("\(file.site.name).toml")
      for receiver in file.site.receivers {
        known.insert("\(file.site.name).\(receiver.name).toml")
      }
    }
    return texts.keys.filter { !known.contains($0) }.sorted()
  }

  private func named(_ text: [UInt8], _ file: SiteFile) -> [UInt8] {
    let named = text + Self.names(file, besides: text)
    // Names are of less use than regions.
    return named.count <= maximumLength ? named : text
  }

  /// Tables with the names of a site's beacons, but for those that a text has.
  private static func names(_ file: SiteFile, besides text: [UInt8]) -> [UInt8] {
    var known = KnownBeacons(TOMLDocument(text).root)
    var tables = ""
    for (beacon, entry) in file.beacons.sorted(by: { $0.key < $1.key }) {
      guard let name = entry.name, known.insert(name, beacon) else { continue }
      tables += """

        [beacon.\(TOMLDocument.quoted(name))]
        uuid = "\(beacon.uuid)"
        major = \(beacon.major)
        minor = \(beacon.minor)

        """
    }
    return Array(tables.utf8)
  }
}

/// The names and the beacons of a configuration, none of which may be there twice.
private struct KnownBeacons {
  private var names: Set<String> = []
  private var texts: Set<String> = []

  init(_ root: TOMLTable) {
    for entry in root.table("beacon")?.entries ?? [] {
      names.insert(entry.key)
      guard case .table(let table) = entry.item.value,
        case .string(let uuid)? = table["uuid"]?.value,
        case .integer(let major)? = table["major"]?.value,
        case .integer(let minor)? = table["minor"]?.value
      else { continue }
      texts.insert("\(uuid.uppercased()):\(major):\(minor)")
    }
  }

  mutating func insert(_ name: String, _ beacon: BeaconIdentity) -> Bool {
    guard !names.contains(name), !texts.contains("\(beacon)".uppercased()) else { return false }
    names.insert(name)
    return true
  }
}
