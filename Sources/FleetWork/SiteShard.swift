import Bytes
import Clocks
package import FleetEngine
import FleetPicture
import FleetReports
import Fusion

/// A shard of the fleet: the rooms of the beacons of its sites.
package struct SiteShard: ShardProcessor {
  /// The seconds between two pictures of a site, at least.
  private static let pictureInterval: Int64 = 2
  /// The beacons for which a picture has a second more.
  private static let beaconsOfSecond = 200
  /// The most sites of a shard that no file has.
  private static let maximumUnknown = 100
  private static let version: UInt8 = 2
  /// The most bytes of the sites' states. RabbitMQ 4 takes messages of 16 MiB.
  private static let maximumSize = 12_000_000

  struct Stored {
    /// The hash of the site's file.
    var revision: UInt64
    var state: [UInt8]
  }

  private let number: Int
  private let library: SiteLibrary
  private var sites: [String: SiteState] = [:]
  /// The states of sites whose files are missing, such as those that an editor replaces.
  private var absent: [String: Stored] = [:]
  /// The sites that no file has, with the second of their last pictures.
  private var unknown: [String: Int64] = [:]
  private let maximumSize: Int
  /// The bytes of each site's state, and of all of them.
  private var sizes: [String: Int] = [:]
  private(set) var size = 0

  package static func shardsInUse(_ context: SiteLibrary) -> Int {
    Set(context.sites.map { FleetTopic.shard(ofSite: $0) }).count
  }

  package init(shard: Int, state: [UInt8]?, context: SiteLibrary) throws {
    try self.init(shard: shard, state: state, context: context, maximumSize: Self.maximumSize)
  }

  init(shard: Int, state: [UInt8]?, context: SiteLibrary, maximumSize: Int) throws {
    number = shard
    self.maximumSize = maximumSize
    library = context
    guard let state else { return }
    var cursor = unsafe ByteCursor(state.span.bytes)
    guard try cursor.readUInt8() == Self.version else {
      throw ParseError(.invalid("another version of the state"), at: 0)
    }
    while cursor.remaining > 0 {
      let name = try cursor.readText()
      let revision = try cursor.readLittleEndian(UInt64.self)
      let count = Int(try cursor.readLittleEndian(UInt32.self))
      let bytes = try cursor.read(count)
      if let entry = library.entry(of: name) {
        sites[name] = SiteState(
          entry,
          fusion: try SiteFusion(
            entry.model, state: bytes, isSameSite: entry.revision == revision), in: library)
      } else {
        absent[name] = Stored(revision: revision, state: bytes.array)
      }
      measure(name)
    }
  }

  package func encodedState() -> [UInt8] {
    var bytes = StateWriter()
    bytes.put(Self.version)
    let stored = absent.merging(sites.mapValues(\.stored)) { $1 }
    for (name, site) in stored.sorted(by: { $0.key < $1.key }) {
      bytes.put(name)
      bytes.put(site.revision)
      bytes.put(UInt32(site.state.count))
      bytes.put(site.state)
    }
    return bytes.bytes
  }

  package mutating func process(_ report: [UInt8], routingKey: String) -> [FleetMessage] {
    let names = routingKey.split(separator: ".")
    guard names.count == 5, FleetTopic.isName(String(names[2])),
      FleetTopic.isName(String(names[3]))
    else { return [] }
    let (name, receiver) = (String(names[2]), String(names[3]))
    // Another shard has the site, and its own reports.
    guard FleetTopic.shard(ofSite: name) == number else { return [] }
    guard update(name) else { return foreign(name, receiver, report) }
    let parsed: ReceiverReport
    do throws(ReportError) {
      parsed = try unsafe ReceiverReport(parsing: report.span.bytes)
      // Its credentials give a receiver the right to write the topic of its own name alone.
      guard parsed.site == name, parsed.receiver == receiver else {
        sites[name]?.refuse(
          "the report names the receiver \(parsed.site)/\(parsed.receiver)", of: receiver)
        return refusals(of: name)
      }
    } catch {
      sites[name]?.refuse("\(error)", of: receiver)
      return refusals(of: name)
    }
    var messages = limit(name)
    messages += self.messages(sites[name]?.receive(parsed) ?? [])
    measure(name)
    return messages + limitOthers(than: name) + pictures(of: name)
  }

  private func messages(_ changes: [RoomChange]) -> [FleetMessage] {
    changes.map { FleetMessage(id: $0.id, routingKey: $0.site, body: $0.json) }
  }

  /// The bytes that each site's state may have, whatever the others have.
  private var share: Int { maximumSize / max(1, sites.count) }

  /// Takes the size of a site's state, which has changed. Each report changes that of one site.
  private mutating func measure(_ name: String) {
    let bytes = sites[name]?.fusion.size ?? absent[name]?.state.count
    size += (bytes ?? 0) - (sizes[name] ?? 0)
    sizes[name] = bytes
  }

  /// Limits a site's state to what the others leave, or to a number of bytes.
  private mutating func limit(_ name: String, to bytes: Int? = nil) -> [FleetMessage] {
    let others = size - (sizes[name] ?? 0)
    let most = max(share, bytes ?? maximumSize - others)
    let changes = sites[name]?.limit(to: most, of: name) ?? []
    measure(name)
    return messages(changes)
  }

  /// Limits the states of the other sites, the largest first, if there is not enough for all.
  private mutating func limitOthers(than name: String) -> [FleetMessage] {
    guard size > maximumSize else { return [] }
    let order = sizes.filter { $0.key != name && sites[$0.key] != nil }
      .sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    return order.flatMap { limit($0.key, to: $0.value - max(0, size - maximumSize)) }
  }

  /// Makes the site's state that of its file, and returns whether there is one.
  private mutating func update(_ name: String) -> Bool {
    for site in absent.keys where !library.expects(site) {
      absent[site] = nil
      measure(site)
    }
    if let site = sites[name], library.revision(of: name) == site.revision { return true }
    defer { measure(name) }
    let former = sites.removeValue(forKey: name)?.stored ?? absent.removeValue(forKey: name)
    guard let entry = library.entry(of: name) else {
      absent[name] = former
      return false
    }
    unknown[name] = nil
    let fusion = former.flatMap {
      try? unsafe SiteFusion(
        entry.model, state: $0.state.span.bytes, isSameSite: $0.revision == entry.revision)
    }
    sites[name] = SiteState(entry, fusion: fusion ?? SiteFusion(entry.model), in: library)
    return true
  }

  private mutating func pictures(of name: String) -> [FleetMessage] {
    guard let site = sites[name], let second = site.fusion.second else { return [] }
    let interval =
      Self.pictureInterval + Int64(site.fusion.count / Self.beaconsOfSecond)
    guard second >= site.pictured.map({ $0 + interval }) ?? .min else { return [] }
    sites[name]?.pictured = second
    return site.pictures(of: name, second: second).map { picture in
      FleetMessage(
        .pictures, id: "\(name)/\(second)/\(picture.part)", routingKey: name, body: picture.json)
    }
  }

  /// Shows a site whose reports are all refused, so that none gives it a time.
  private mutating func refusals(of name: String) -> [FleetMessage] {
    guard sites[name]?.showsRefusal() == true, let site = sites[name] else { return [] }
    let second = WallClockTime.now.nanoseconds / 1_000_000_000
    return site.pictures(of: name, second: second).map { picture in
      var picture = picture
      for index in picture.receivers.indices { picture.receivers[index].isMissing = true }
      return FleetMessage(
        .pictures, id: "\(name)/\(second)/\(picture.part)", routingKey: name, body: picture.json)
    }
  }

  /// Shows a site that reports and has no file, as a picture with that fault.
  private mutating func foreign(
    _ name: String, _ receiver: String, _ bytes: [UInt8]
  ) -> [FleetMessage] {
    guard unknown[name] != nil || unknown.count < Self.maximumUnknown,
      let report = try? unsafe ReceiverReport(parsing: bytes.span.bytes)
    else { return [] }
    let second = report.time.second
    guard second >= unknown[name].map({ $0 + 10 }) ?? .min else { return [] }
    unknown[name] = second
    let picture = SitePicture(
      site: name, time: "\(report.time)", receivers: [], beacons: [], strangers: [receiver],
      fault: "no file in \(library.directory) has the site \(name), so its reports are not used")
    return [
      FleetMessage(.pictures, id: "\(name)/\(second)/0", routingKey: name, body: picture.json)
    ]
  }
}
