internal import Advertising
internal import Scanning

extension RegionMonitor {
  /// Returns a beacon's place, with current links; -1 if no region matches it.
  @inline(__always)
  mutating func place(of beacon: BeaconIdentity) -> Int32 {
    let known = places.find(beacon) { beacons[$0].identity == beacon }
    guard known >= 0, beacons[Int(known)].generation == index.generation,
      !beacons[Int(known)].links.isEmpty
    else { return newPlace(of: beacon, known: known) }
    return known
  }

  private mutating func newPlace(of beacon: BeaconIdentity, known: Int32) -> Int32 {
    if known >= 0 {
      if beacons[Int(known)].generation != index.generation { relink(Int(known)) }
      return beacons[Int(known)].links.isEmpty ? -1 : known
    }
    guard index.matches(beacon.uuid), !index.places(for: beacon).isEmpty else { return -1 }
    if places.count >= configuration.maximumBeacons, !makeRoom(sparing: nil) { return -1 }
    let place = makePlace(for: beacon)
    relink(Int(place))
    return beacons[Int(place)].links.isEmpty ? -1 : place
  }

  private mutating func makePlace(for beacon: BeaconIdentity) -> Int32 {
    serials &+= 1
    var tracked = TrackedBeacon(identity: beacon, serial: serials)
    if !isFullDuty { tracked.changeDuty() }
    let place: Int32
    if let free = vacant.popLast() {
      place = free
      beacons[Int(place)] = tracked
    } else {
      place = Int32(beacons.count)
      beacons.append(tracked)
    }
    places.add(beacon, at: place)
    return place
  }

  /// Links a beacon to the regions that match it; keeps its links to current ones.
  private mutating func relink(_ place: Int) {
    var known: [UInt32: Link] = [:]
    for link in beacons[place].links { known[link.serial] = link }
    links -= beacons[place].links.count
    beacons[place].links = []
    var matching = index.places(for: beacons[place].identity).map { region in
      let serial = index.records[Int(region)].serial
      return known[serial] ?? Link(place: region, serial: serial)
    }
    while links + matching.count > configuration.maximumLinks, makeRoom(sparing: place) {}
    let room = max(configuration.maximumLinks - links, 0)
    if matching.count > room {
      // Links inside their regions stay.
      matching = Array(
        (matching.filter(\.isInside) + matching.filter { !$0.isInside }).prefix(room))
    }
    beacons[place].links = matching
    links += matching.count
    beacons[place].generation = index.generation
    beacons[place].attentive = matching.count { link in
      !link.isInside || index.records[Int(link.place)].region.rules.hasGates
    }
    updateDeadline(of: place)
  }

  /// Evicts the eighth of beacons received longest ago, those in no region first, and returns
  /// whether there were any. The only beacon in a region stays, as do all where each is reported.
  private mutating func makeRoom(sparing spared: Int?) -> Bool {
    let byAge = places.places.filter { Int($0) != spared }.map { place in
      let holds = beacons[Int(place)].shortest != .max
      return (holds ? 1 : 0, beacons[Int(place)].lastReceived, place)
    }.sorted(by: <)
    let (wanted, before) = (max(1, places.count / 8), evictions)
    for (_, _, place) in byAge where evictions - before < wanted {
      let held = beacons[Int(place)].links.filter { $0.isInside && index.isCurrent($0) }
      if held.contains(where: { link in
        let record = index.records[Int(link.place)]
        return record.holders == 1 || record.region.rules.reportsEachBeacon
      }) {
        continue
      }
      for link in held { index.records[Int(link.place)].holders -= 1 }
      places.remove(beacons[Int(place)].identity, from: place)
      links -= beacons[Int(place)].links.count
      serials &+= 1
      beacons[Int(place)] = TrackedBeacon(
        identity: beacons[Int(place)].identity, serial: serials)
      vacant.append(place)
      evictions += 1
    }
    return evictions > before
  }
}
