package import Advertising
package import Fusion
internal import Scanning
internal import TOMLDocuments

/// An error in a site file, with its place.
package struct SiteFileError: Error, Hashable, CustomStringConvertible {
  package var line: Int
  package var column: Int
  package var message: String

  package var description: String { "line \(line), column \(column): \(message)" }
}

/// A site with what its file adds for people.
package struct SiteFile: Sendable, Hashable {
  /// The picture of a floor plan.
  package struct Plan: Sendable, Hashable {
    /// The name of a PNG, JPEG or SVG file in the folder of the site file.
    package var image: String
    package var metersPerPixel: Double
    /// The place of the left lower corner.
    package var corner: Site.Point
    package var floor: Int
  }

  /// A beacon that the site knows.
  package struct Beacon: Sendable, Hashable {
    package var name: String?
    /// The rooms that it may be in; `nil` for all, and outside.
    package var rooms: Set<String>?
  }

  package var site: Site
  package var plans: [Plan]
  package var beacons: [BeaconIdentity: Beacon]

  package static let maximumBeacons = 20_000

  /// Reads a site file, as docs/fleet.md describes it.
  package init(parsing bytes: [UInt8]) throws(SiteFileError) {
    var reader = SiteReader(bytes)
    do {
      self = try reader.file()
    } catch {
      let position = reader.document.position(of: error.offset)
      throw SiteFileError(
        line: position.line, column: position.column, message: error.message)
    }
  }

  fileprivate init(site: Site, plans: [Plan], beacons: [BeaconIdentity: Beacon]) {
    self.site = site
    self.plans = plans
    self.beacons = beacons
  }
}

extension Site {
  /// The most rooms and receivers of a site, which bound the memory of its beacons.
  package static let maximumRooms = 256
  package static let maximumReceivers = 256

  /// Reads a site file without what it has for people.
  package init(parsing bytes: [UInt8]) throws(SiteFileError) {
    self = try SiteFile(parsing: bytes).site
  }
}

/// Reads the tables of a site file. Unknown keys are errors, as a misspelled key would be lost.
private struct SiteReader {
  typealias Problem = TOMLDocument.Problem

  let document: TOMLDocument

  init(_ bytes: [UInt8]) { document = TOMLDocument(bytes) }

  mutating func file() throws(Problem) -> SiteFile {
    if let problem = document.problems.first { throw problem }
    let root = document.root
    try check(
      root,
      keys: [
        "name", "walkingSpeed", "opening", "lying", "signal", "rooms", "receivers", "levels",
        "plan", "beacons",
      ])
    let site = try site(root)
    return SiteFile(
      site: site, plans: try plans(root),
      beacons: try beacons(root, rooms: site.rooms.map(\.name)))
  }

  private func site(_ root: TOMLTable) throws(Problem) -> Site {
    var rooms: [Site.Room] = []
    for table in try tables(root, "rooms") { rooms.append(try room(table)) }
    var receivers: [Site.Receiver] = []
    for table in try tables(root, "receivers") {
      let receiver = try receiver(table, rooms: rooms)
      if let beacon = receiver.beacon, receivers.contains(where: { $0.beacon == beacon }) {
        throw Problem("two receivers have the beacon \(beacon)", at: table.range.lowerBound)
      }
      receivers.append(receiver)
    }
    try check(rooms.map(\.name), "room", root, most: Site.maximumRooms)
    try check(receivers.map(\.name), "receiver", root, most: Site.maximumReceivers)
    var levels: [Site.Level] = []
    for table in try tables(root, "levels") {
      levels.append(try level(table, rooms: rooms, receivers: receivers))
    }
    var site = Site(
      try name(root), rooms: rooms, receivers: receivers, levels: levels,
      propagation: try propagation(root.table("signal")))
    site.walkingSpeed = try number(root, "walkingSpeed", in: 0.05...3) ?? site.walkingSpeed
    site.opening = try number(root, "opening", in: 0.001...1) ?? site.opening
    site.lying = try number(root, "lying", in: 1...86_400) ?? site.lying
    return site
  }

  /// One plan, or one for each of several floors.
  private func plans(_ root: TOMLTable) throws(Problem) -> [SiteFile.Plan] {
    let single = root.table("plan")
    let tables = try single == nil ? tables(root, "plan") : []
    var plans: [SiteFile.Plan] = []
    for table in [single].compactMap({ $0 }) + tables {
      try check(table, keys: ["image", "metersPerPixel", "x", "y", "floor"])
      guard let image = try text(table, "image"), let scale = table["metersPerPixel"] else {
        throw Problem("a plan has image and metersPerPixel", at: table.range.lowerBound)
      }
      let types = [".png", ".jpg", ".jpeg", ".svg"]
      guard !image.contains("/"), !image.hasPrefix("."),
        types.contains(where: image.lowercased().hasSuffix), !image.utf8.contains(0)
      else {
        throw Problem(
          "image: expected the name of a file in this folder that ends in "
            + types.joined(separator: ", "), at: table["image"]?.range.lowerBound ?? 0)
      }
      guard let scale = Self.number(scale), 0.0001...100 ~= scale else {
        throw Problem(
          "metersPerPixel: expected a number from 0.0001 to 100", at: scale.range.lowerBound)
      }
      let plan = SiteFile.Plan(
        image: image, metersPerPixel: scale,
        corner: Site.Point(
          try number(table, "x", in: -10_000...10_000) ?? 0,
          try number(table, "y", in: -10_000...10_000) ?? 0), floor: try floor(table))
      guard !plans.contains(where: { $0.floor == plan.floor }) else {
        throw Problem("two plans are of floor \(plan.floor)", at: table.range.lowerBound)
      }
      plans.append(plan)
    }
    return plans
  }

  private func beacons(
    _ root: TOMLTable, rooms: [String]
  ) throws(Problem) -> [BeaconIdentity: SiteFile.Beacon] {
    var beacons: [BeaconIdentity: SiteFile.Beacon] = [:]
    for table in try tables(root, "beacons") {
      try check(table, keys: ["beacon", "name", "rooms"])
      guard let identity = try identity(table) else {
        throw Problem("beacon: expected UUID:MAJOR:MINOR", at: table.range.lowerBound)
      }
      guard beacons[identity] == nil, beacons.count < SiteFile.maximumBeacons else {
        throw Problem(
          beacons[identity] == nil
            ? "a site names at most \(SiteFile.maximumBeacons) beacons"
            : "two entries are of the beacon \(identity)", at: table.range.lowerBound)
      }
      beacons[identity] = SiteFile.Beacon(
        name: try self.text(table, "name"), rooms: try allowed(table, among: rooms))
    }
    return beacons
  }

  private func identity(_ table: TOMLTable) throws(Problem) -> BeaconIdentity? {
    guard let text = try text(table, "beacon"), let item = table["beacon"] else { return nil }
    guard let identity = BeaconConstraint(text)?.identity else {
      throw Problem("beacon: expected UUID:MAJOR:MINOR", at: item.range.lowerBound)
    }
    return identity
  }

  private func allowed(
    _ table: TOMLTable, among rooms: [String]
  ) throws(Problem) -> Set<String>? {
    guard let item = table["rooms"] else { return nil }
    guard case .array(let items) = item.value, !items.isEmpty else {
      throw Problem("rooms: expected names, as [\"office\", \"store\"]", at: item.range.lowerBound)
    }
    var allowed: Set<String> = []
    for item in items {
      guard case .string(let name) = item.value, rooms.contains(name) else {
        throw Problem(
          "rooms: expected names of rooms; there are: "
            + rooms.prefix(10).joined(separator: ", "), at: item.range.lowerBound)
      }
      allowed.insert(name)
    }
    return allowed
  }

  private func room(_ table: TOMLTable) throws(Problem) -> Site.Room {
    try check(table, keys: ["name", "outline", "floor", "entrance"])
    var room = Site.Room(
      try name(table), floor: try floor(table), isEntrance: try flag(table, "entrance"))
    if let item = table["outline"] {
      guard case .array(let corners) = item.value, (3...64).contains(corners.count) else {
        throw Problem(
          "outline: expected 3 to 64 corners, as [[0, 0], [4, 0], [4, 3]]",
          at: item.range.lowerBound)
      }
      for corner in corners { room.outline.append(try point(corner, "outline")) }
      guard !room.hasCrossingEdges, room.area >= 0.01 else {
        throw Problem(
          "outline: expected corners in order around an area, with edges that do not cross",
          at: item.range.lowerBound)
      }
    }
    return room
  }

  private func receiver(
    _ table: TOMLTable, rooms: [Site.Room]
  ) throws(Problem) -> Site.Receiver {
    try check(
      table, keys: ["name", "at", "room", "floor", "height", "offset", "rate", "beacon"])
    var position: Site.Point?
    if let item = table["at"] { position = try point(item, "at") }
    let room = try text(table, "room")
    if let room { try check(room, "room", table, among: rooms.map(\.name)) }
    guard position != nil || room != nil else {
      throw Problem(
        "a receiver has its place, as at = [2.5, 0.2], or its room", at: table.range.lowerBound)
    }
    return Site.Receiver(
      try name(table), at: position, room: room, floor: try floor(table),
      height: try number(table, "height", in: -10...100) ?? 2,
      offset: try number(table, "offset", in: -40...40) ?? 0,
      rate: try number(table, "rate", in: 0.01...1) ?? 0.9, beacon: try identity(table))
  }

  private func level(
    _ table: TOMLTable, rooms: [Site.Room], receivers: [Site.Receiver]
  ) throws(Problem) -> Site.Level {
    try check(table, keys: ["room", "receiver", "rssi", "seconds"])
    func required<Value>(_ value: Value?, _ key: String) throws(Problem) -> Value {
      guard let value else {
        throw Problem(
          "a level has a room, a receiver, rssi and seconds; \(key) is missing",
          at: table.range.lowerBound)
      }
      return value
    }
    let room = try required(try text(table, "room"), "room")
    let receiver = try required(try text(table, "receiver"), "receiver")
    try check(room, "room", table, among: rooms.map(\.name))
    try check(receiver, "receiver", table, among: receivers.map(\.name))
    return Site.Level(
      room: room, receiver: receiver,
      rssi: try required(try number(table, "rssi", in: -127...20), "rssi"),
      seconds: Int(try required(try number(table, "seconds", in: 1...1_000_000), "seconds")))
  }

  private func propagation(_ table: TOMLTable?) throws(Problem) -> Site.Propagation {
    var propagation = Site.Propagation()
    guard let table else { return propagation }
    let numbers: [(String, WritableKeyPath<Site.Propagation, Double>, ClosedRange<Double>)] = [
      ("exponent", \.exponent, 0.5...8), ("wallLoss", \.wallLoss, 0...60),
      ("floorLoss", \.floorLoss, 0...100), ("floorHeight", \.floorHeight, 1...20),
      ("beaconHeight", \.beaconHeight, 0...20), ("shadowing", \.shadowing, 0...20),
      ("noise", \.noise, 0...20), ("sensitivity", \.sensitivity, -127...(-30)),
      ("measuredPower", \.measuredPower, -127...20),
    ]
    try check(table, keys: numbers.map(\.0))
    for (key, path, range) in numbers {
      propagation[keyPath: path] =
        try number(table, key, in: range) ?? propagation[keyPath: path]
    }
    return propagation
  }

  private func name(_ table: TOMLTable) throws(Problem) -> String {
    guard let name = try text(table, "name") else {
      throw Problem("name is missing", at: table.range.lowerBound)
    }
    return name
  }

  private func text(_ table: TOMLTable, _ key: String) throws(Problem) -> String? {
    guard let item = table[key] else { return nil }
    guard case .string(let text) = item.value, (1...64).contains(text.unicodeScalars.count) else {
      throw Problem("\(key): expected a text of 1 to 64 characters", at: item.range.lowerBound)
    }
    return text
  }

  private func flag(_ table: TOMLTable, _ key: String) throws(Problem) -> Bool {
    guard let item = table[key] else { return false }
    guard case .boolean(let value) = item.value else {
      throw Problem("\(key): expected true or false", at: item.range.lowerBound)
    }
    return value
  }

  private func floor(_ table: TOMLTable) throws(Problem) -> Int {
    Int(try number(table, "floor", in: -20...200) ?? 0)
  }

  private func number(
    _ table: TOMLTable, _ key: String, in range: ClosedRange<Double>
  ) throws(Problem) -> Double? {
    guard let item = table[key] else { return nil }
    guard let number = Self.number(item), range.contains(number) else {
      throw Problem(
        "\(key): expected a number from \(range.lowerBound) to \(range.upperBound)",
        at: item.range.lowerBound)
    }
    return number
  }

  private static func number(_ item: TOMLItem) -> Double? {
    switch item.value {
    case .integer(let number): Double(number)
    case .float(let number): number.isFinite ? number : nil
    default: nil
    }
  }

  private func point(_ item: TOMLItem, _ key: String) throws(Problem) -> Site.Point {
    guard case .array(let numbers) = item.value, numbers.count == 2,
      let x = Self.number(numbers[0]), let y = Self.number(numbers[1]),
      abs(x) <= 10_000, abs(y) <= 10_000
    else {
      throw Problem(
        "\(key): expected x and y in meters, as [2.5, 0.2], within 10 km", at: item.range.lowerBound
      )
    }
    return Site.Point(x, y)
  }

  private func tables(_ table: TOMLTable, _ key: String) throws(Problem) -> [TOMLTable] {
    guard let item = table[key] else { return [] }
    guard case .tables(let tables) = item.value else {
      throw Problem("\(key): expected tables with the header [[\(key)]]", at: item.range.lowerBound)
    }
    return tables
  }

  private func check(_ table: TOMLTable, keys: [String]) throws(Problem) {
    guard let entry = table.entries.first(where: { !keys.contains($0.key) }) else { return }
    throw Problem(
      "unknown key \(entry.key); valid: \(keys.joined(separator: ", "))",
      at: entry.range.lowerBound)
  }

  private func check(
    _ names: [String], _ kind: String, _ table: TOMLTable, most: Int
  ) throws(Problem) {
    guard (1...most).contains(names.count) else {
      throw Problem(
        "a site has 1 to \(most) \(kind)s; this one has \(names.count)",
        at: table.range.lowerBound)
    }
    var seen: Set<String> = []
    for name in names where !seen.insert(name).inserted {
      throw Problem("two \(kind)s have the name \(name)", at: table.range.lowerBound)
    }
  }

  private func check(
    _ name: String, _ key: String, _ table: TOMLTable, among names: [String]
  ) throws(Problem) {
    guard !names.contains(name), let item = table[key] else { return }
    throw Problem(
      "no \(key) has the name \(name); there are: \(names.prefix(10).joined(separator: ", "))",
      at: item.range.lowerBound)
  }
}
