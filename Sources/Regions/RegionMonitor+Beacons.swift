internal import Advertising
internal import Scanning

extension RegionMonitor {
  /// A beacon's place, with its links up to date; `nil` if no region means it.
  mutating func place(of beacon: BeaconIdentity, _ transitions: inout [RegionTransition]) -> Int32?
  {
    if let place = places[beacon] {
      if beacons[Int(place)].generation != index.generation { relink(Int(place), &transitions) }
      return beacons[Int(place)].links.isEmpty ? nil : place
    }
    guard index.isAbout(beacon.uuid) else { return nil }
    let meant = index.places(for: beacon)
    guard !meant.isEmpty else { return nil }
    if places.count >= configuration.mostBeacons { makeRoom(sparing: nil, &transitions) }
    let place = makePlace(for: beacon)
    relink(Int(place), &transitions)
    return beacons[Int(place)].links.isEmpty ? nil : place
  }

  private mutating func makePlace(for beacon: BeaconIdentity) -> Int32 {
    serials &+= 1
    let tracked = TrackedBeacon(beacon, serial: serials)
    let place: Int32
    if let free = vacant.popLast() {
      place = free
      beacons[Int(place)] = tracked
    } else {
      place = Int32(beacons.count)
      beacons.append(tracked)
    }
    places[beacon] = place
    return place
  }

  /// Finds the regions that mean a beacon, and keeps what it is to those that are still there.
  private mutating func relink(_ place: Int, _ transitions: inout [RegionTransition]) {
    let meant = index.places(for: beacons[place].identity).prefix(configuration.mostLinks)
    var known: [UInt32: Link] = [:]
    for link in beacons[place].links { known[link.serial] = link }
    links -= beacons[place].links.count
    beacons[place].links = []
    while links + meant.count > configuration.mostLinks, places.count > 1 {
      makeRoom(sparing: place, &transitions)
    }
    beacons[place].links = meant.map { region in
      let serial = index.records[Int(region)].serial
      return known[serial] ?? Link(place: region, serial: serial)
    }
    links += meant.count
    beacons[place].generation = index.generation
    beacons[place].attentive = beacons[place].links.count { link in
      !link.isInside || index.records[Int(link.place)].region.rules.hasGates
    }
    beacons[place].shortest = shortestLimit(place)
    schedule(place)
  }

  /// The eighth of the beacons that was heard longest ago goes, first those that hold no region.
  private mutating func makeRoom(sparing spared: Int?, _ transitions: inout [RegionTransition]) {
    let byAge = places.values.filter { Int($0) != spared }.sorted { left, right in
      let (one, other) = (beacons[Int(left)], beacons[Int(right)])
      let holds = (one.shortest != .max, other.shortest != .max)
      if holds.0 != holds.1 { return !holds.0 }
      return (one.lastHeard, left) < (other.lastHeard, right)
    }
    let now = clock.now ?? 0
    for place in byAge.prefix(max(1, places.count / 8)) {
      let held = beacons[Int(place)].links.filter {
        $0.isInside && index.isCurrent($0.place, $0.serial)
      }
      for link in held {
        hold(link.place, by: Int(place), .forgotten, at: now, isEntering: false, &transitions)
      }
      links -= beacons[Int(place)].links.count
      places[beacons[Int(place)].identity] = nil
      serials &+= 1
      beacons[Int(place)] = TrackedBeacon(beacons[Int(place)].identity, serial: serials)
      vacant.append(place)
      evictions += 1
    }
  }
}
