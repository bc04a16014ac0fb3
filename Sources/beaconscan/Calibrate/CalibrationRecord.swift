import Advertising
import Frontends
import Glibc
import Ranging
import Records
import TOMLDocuments

struct CalibrationRecord {
  let results: [CalibrationResult]
  /// The name for the beacon, or `nil` for its present name or one from its numbers.
  let name: String?
  let region: String?

  /// Writes the results to a file, keeps its comments and layout, and returns its path.
  func save(to path: String?) throws -> String {
    guard let path else {
      throw CommandError(
        .cannotCreate, "there is no home directory for the configuration; name a file with --config"
      )
    }
    let file =
      Settings.isThere(path)
      ? try ConfigurationFile(path: path) : ConfigurationFile(path: path, bytes: [])
    let document: TOMLDocument
    do throws(TOMLDocument.Problem) {
      document = try edit(file)
    } catch {
      throw CommandError(.badData, file.sentence(of: error))
    }
    var edited = ConfigurationFile(path: path, bytes: document.bytes)
    edited.checkValues()
    if let problem = edited.problems.first {
      throw CommandError(
        .badData,
        "the result does not go with \(edited.sentence(of: problem)); change that and try again")
    }
    // If the path is a link, its target is replaced.
    var target = path
    if let resolved = unsafe realpath(path, nil) {
      target = unsafe String(cString: resolved)
      unsafe free(resolved)
    }
    if target == path { Self.makeFolder(of: path) }
    let output = try OutputFile(target, replacesFile: true)
    try output.write(document.bytes)
    try output.finish()
    return path
  }

  private func edit(_ file: ConfigurationFile) throws(TOMLDocument.Problem) -> TOMLDocument {
    var document = file.document
    func set(_ key: String, _ value: String, _ path: [String] = []) throws(TOMLDocument.Problem) {
      document = try document.setting(key, to: value, in: path)
    }
    for result in results {
      switch result.finding {
      case .boundary(let fit):
        let isInFile = file.regions.contains { $0.name == region }
        try set(
          "boundary", decimal(fit.level.value, 1), isInFile ? ["region", region ?? ""] : [])
      case .distances(let fit) where result.adapter == nil:
        let beacon = result.beacon
        let path = ["beacon", try title(of: beacon, in: file)]
        try set("uuid", TOMLDocument.quoted("\(beacon.uuid)"), path)
        try set("major", "\(beacon.major)", path)
        try set("minor", "\(beacon.minor)", path)
        try set("power", decimal(fit.power.value, 1), path)
        if let exponent = fit.exponent { try set("exponent", decimal(exponent.value, 2), path) }
      case .distances: break
      }
    }
    let measured = results.compactMap { result in
      result.adapter.flatMap { adapter in
        result.adapterOffset.map { (adapter: "hci\(adapter)", offset: decimal($0.value, 1)) }
      }
    }
    guard !measured.isEmpty else { return document }
    let others = (file.settings["adapter-offset"]?.values ?? []).filter { value in
      !measured.contains { value.hasPrefix("\($0.adapter)=") }
    }
    let offsets = (others + measured.map { "\($0.adapter)=\($0.offset)" }).map(TOMLDocument.quoted)
    try set("adapter-offset", "[\(offsets.joined(separator: ", "))]")
    // The exponent belongs to the site, so any adapter's will do.
    for case .distances(let fit) in results.map(\.finding) {
      guard let exponent = fit.exponent else { continue }
      try set("environment", decimal(exponent.value, 2))
      break
    }
    return document
  }

  private func title(
    of beacon: BeaconIdentity, in file: ConfigurationFile
  ) throws(TOMLDocument.Problem) -> String {
    func offset(_ name: String) -> Int {
      file.document.root.table("beacon")?.table(name)?.range.lowerBound ?? 0
    }
    let old = file.beacons.first { $0.identity == beacon }?.name
    if let name, let old, name != old {
      throw .init(
        "the beacon has the name '\(old)' here; leave --name out, or change the name here first",
        at: offset(old))
    }
    let title = name ?? old ?? "beacon-\(beacon.major)-\(beacon.minor)"
    if old == nil, file.beacons.contains(where: { $0.name == title }) {
      throw .init(
        "'\(title)' is the name of another beacon; choose another with --name", at: offset(title))
    }
    return title
  }

  /// Creates missing folders. If that fails, creating the file reports the error.
  private static func makeFolder(of path: String) {
    for (index, character) in zip(path.indices, path)
    where character == "/" && index > path.startIndex {
      unsafe mkdir(String(path[..<index]), 0o755)
    }
  }
}
