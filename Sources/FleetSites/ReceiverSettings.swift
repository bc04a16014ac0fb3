import Advertising
internal import FoundationEssentials
internal import Fusion
internal import TOMLDocuments

/// The configurations of receivers in a folder: `SITE.toml` for all receivers of a site, and
/// `SITE.RECEIVER.toml` in its place for one of them.
package struct ReceiverSettings: Sendable {
  package typealias Fault = SiteDirectory.Fault

  package let path: String
  package private(set) var faults: [Fault] = []
  /// The texts by the names of the files. One that has an error now stays as it was.
  private var texts: [String: [UInt8]] = [:]
  private var read: [String: [UInt8]] = [:]
  private let maximumLength: Int

  /// Reads the files of a folder, which need not exist.
  package init(_ path: String, maximumLength: Int) {
    self.path = path
    self.maximumLength = maximumLength
    refresh()
  }

  package var isEmpty: Bool { texts.isEmpty }

  /// Reads the files again, and returns whether one has changed.
  @discardableResult
  package mutating func refresh() -> Bool {
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
      .filter { $0.hasSuffix(".toml") && !$0.hasPrefix(".") }
    let files = Dictionary(
      names.compactMap { name in
        FileManager.default.contents(atPath: "\(path)/\(name)").map { (name, Array($0)) }
      }, uniquingKeysWith: { $1 })
    guard files != read else { return false }
    read = files
    faults = []
    texts = texts.filter { files[$0.key] != nil }
    for (name, text) in files.sorted(by: { $0.key < $1.key }) {
      if let message = fault(text) {
        faults.append(Fault(file: "\(path)/\(name)", message: message))
      } else {
        texts[name] = text
      }
    }
    return true
  }

  private func fault(_ text: [UInt8]) -> String? {
    guard text.count <= maximumLength else {
      return "a configuration has at most \(maximumLength >> 10) KiB"
    }
    let document = TOMLDocument(text)
    return document.problems.first.map { problem in
      "\(document.position(of: problem.offset)): \(problem.message)"
    }
  }

  /// Returns the configuration of a receiver, with the names of the site's beacons; `nil` if no file
  /// has one.
  package func text(of receiver: String, at file: SiteFile) -> [UInt8]? {
    let site = file.site.name
    guard let text = texts["\(site).\(receiver).toml"] ?? texts["\(site).toml"] else { return nil }
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
