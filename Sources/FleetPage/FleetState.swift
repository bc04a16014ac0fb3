import Clocks
package import FleetPicture
package import FleetSites
import Fusion

/// The state of all sites, from what the workers publish.
///
/// It keeps at most ``Limits``: beyond them, new sites are ignored, and the oldest changes are
/// forgotten.
package struct FleetState: Sendable {
  package struct Limits: Sendable {
    package var sites = 10_000
    /// The changes of a site, and of all sites: 96 MB.
    package var changesOfSite = 100_000
    package var changes = 1_000_000
    /// The age of a site's oldest change beside its newest, in seconds.
    package var age: Int64 = 86_400

    package init() {}
  }

  package enum Event: Hashable, Sendable {
    case change(RoomChange)
    case alarm(Alarm, isActive: Bool)
  }

  /// The messages that were taken, and those that were not: not readable, repeated or too many.
  struct Tally: Sendable {
    var pictures = 0
    var changes = 0
    var ignored = 0
  }

  private let limits: Limits
  private(set) var sites: [String: SiteState] = [:]
  private(set) var tally = Tally()
  private var changes = 0
  /// The sites whose files are gone. What workers still publish of them shows until they are silent.
  private var removed: Set<String> = []

  package init(limits: Limits = Limits()) { self.limits = limits }

  /// Sets the file of a site.
  package mutating func set(_ file: SiteFile) {
    removed.remove(file.site.name)
    sites[file.site.name, default: SiteState(file.site.name)].file = file
  }

  /// Sets the versions of the configurations that a site's receivers are to have.
  mutating func set(wanted: [String: String], of site: String) { sites[site]?.wanted = wanted }

  /// Sets the receivers of a site that have neither used nor refused it for ten minutes.
  mutating func set(untaken: Set<String>, of site: String) { sites[site]?.untaken = untaken }

  /// Removes the sites that had a file, but for those of some names. Returns the alarms that end.
  mutating func removeFiles(except names: Set<String>) -> [Event] {
    sites.values.filter { $0.file != nil && !names.contains($0.name) }.flatMap { site in
      removed.insert(site.name)
      return remove(site)
    }
  }

  private mutating func remove(_ site: SiteState) -> [Event] {
    changes -= site.log.count
    sites[site.name] = nil
    return site.alarms.values.ordered.map { .alarm($0, isActive: false) }
  }

  /// Takes a picture, and returns the alarms that begin and end.
  mutating func receive(
    _ picture: SitePicture, at arrival: MonotonicTime = .now
  ) -> [Event] {
    guard let second = Seconds.read(picture.time), makeRoom(for: picture.site) else {
      tally.ignored += 1
      return []
    }
    tally.pictures += 1
    return (sites[picture.site]?.receive(picture, at: second, arrival: arrival) ?? []).map(
      Event.alarm)
  }

  /// Takes a change, and returns it unless it is known already. Without a time `now`, the newest
  /// change states the time.
  mutating func receive(_ change: RoomChange, now: Int64? = nil) -> [Event] {
    guard let move = Move(change), makeRoom(for: change.site),
      sites[change.site]?.receive(change, move) == true
    else {
      tally.ignored += 1
      return []
    }
    tally.changes += 1
    changes += 1
    trim(change.site, now: now)
    return [.change(change)]
  }

  mutating func ignore() { tally.ignored += 1 }

  /// Looks for sites of which nothing is published any more, by the time since which there is a
  /// connection to the engine. Without one, no site is silent: it may be published.
  ///
  /// - Returns: The alarms that begin.
  mutating func update(
    at now: MonotonicTime, _ wallSecond: Int64, connected: MonotonicTime
  ) -> [Event] {
    sites.values.sorted { $0.name < $1.name }.flatMap { site in
      let events = sites[site.name]?.update(at: now, wallSecond, connected: connected) ?? []
      // Without a file and a picture, only the changes of a former time name the site.
      guard removed.contains(site.name) || site.file == nil && site.second == nil,
        sites[site.name]?.isSilent == true
      else { return events.map(Event.alarm) }
      removed.remove(site.name)
      return remove(site)
    }
  }

  var alarms: [Alarm] {
    sites.values.flatMap(\.alarms.values).ordered
  }

  private mutating func makeRoom(for site: String) -> Bool {
    if sites[site] != nil { return true }
    guard sites.count < limits.sites, (1...64).contains(site.utf8.count) else { return false }
    sites[site] = SiteState(site)
    return true
  }

  /// Forgets old changes. Those of a clock that was ahead do not make others old.
  private mutating func trim(_ site: String, now: Int64?) {
    func remove(_ count: Int, of site: String, _ fleet: inout FleetState) {
      fleet.sites[site]?.log.removeOldest(count)
      fleet.changes -= count
    }
    if let newest = sites[site]?.log.newest {
      changes -= sites[site]?.log.remove(before: min(newest, now ?? newest) - limits.age) ?? 0
    }
    if let count = sites[site]?.log.count, count > limits.changesOfSite {
      remove(count - limits.changesOfSite, of: site, &self)
    }
    // A hundredth at a time, as the search goes through all sites.
    if changes > limits.changes,
      let longest = sites.max(by: { $0.value.log.count < $1.value.log.count })
    {
      remove(min(longest.value.log.count, 1 + limits.changes / 100), of: longest.key, &self)
    }
  }
}
