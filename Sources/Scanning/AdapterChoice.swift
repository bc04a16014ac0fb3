/// A choice of one adapter per beacon, so that a beacon that several adapters receive counts once.
///
/// One link is followed at a time, because mixed signals would make distances jump. Another is
/// followed when it is clearly louder, or fills in when the first has been silent for a few of its
/// own gaps, until the louder one is back. The first packets of a weaker link that fills in count
/// only for presence. While only one adapter was ever used, the cost is one comparison.
@usableFromInline
package struct AdapterChoice: Sendable {
  /// The only adapter that was used so far.
  @usableFromInline
  var only = Only.none
  private var table: BeaconTable<Links>
  /// The first adapter, and the time until which beacons are assumed to be known through it.
  private var first: UInt16 = 0
  private var knownUntil = MonotonicTime(nanoseconds: .max)

  /// The nanoseconds in which the first adapter may know the beacons that a second one receives.
  private static let settling = 10 * MonotonicTime.nanosecondsPerSecond

  @usableFromInline
  enum Only: Sendable, Equatable {
    case none
    case one(UInt16)
    case several
  }

  @usableFromInline
  package enum Verdict: Sendable {
    /// It counts for everything: it came through the followed link.
    case followed
    /// It counts only for presence: a weaker link fills in for a louder one.
    case presence
    /// It does not count: a louder link provides the same.
    case passedOver
  }

  /// Creates an empty choice. Of more beacons, those received longest ago are evicted.
  package init(maximumBeacons: Int = 32768) { table = BeaconTable(capacity: maximumBeacons) }

  package var beaconCount: Int { table.count }

  /// Receives a sighting, in the order of time, and returns its use.
  @inlinable @inline(__always)
  package mutating func receive(_ sighting: Sighting) -> Verdict {
    isOnly(sighting.adapter) ? .followed : choose(sighting)
  }

  /// Returns whether an adapter is the only one that was used so far, whose sightings all count.
  @inlinable @inline(__always)
  package func isOnly(_ adapter: UInt16) -> Bool { only == .one(adapter) }

  @usableFromInline
  mutating func choose(_ sighting: Sighting) -> Verdict {
    switch only {
    case .none:
      only = .one(sighting.adapter)
      first = sighting.adapter
      return .followed
    case .one:
      only = .several
      knownUntil = sighting.time.advanced(by: Self.settling)
    case .several: break
    }
    let fillsIn = sighting.adapter != first && sighting.time < knownUntil
    var verdict = Verdict.passedOver
    table.update(sighting.beacon, at: sighting.time) {
      Links(fillsIn: fillsIn)
    } update: { links in
      verdict = links.receive(sighting)
    }
    return verdict
  }

  /// The links from one beacon to the adapters that receive it, at most four.
  private struct Links: Sendable {
    private var links = InlineArray<4, AdapterLink>(repeating: AdapterLink())
    private var followed = 0
    /// The number of further sightings that count only for presence, while a link fills in.
    private var filling: Int
    /// The time of the last sighting that counted, in nanoseconds.
    private var counted = Int64.min

    /// The number of sightings of a weaker link before its signal counts.
    private static let maximumFilling = 2

    init(fillsIn: Bool) { filling = fillsIn ? Self.maximumFilling : 0 }

    mutating func receive(_ sighting: Sighting) -> Verdict {
      let time = sighting.time.nanoseconds
      let level = sighting.rssi.map(Float.init) ?? AdapterLink.unmeasured
      guard let number = place(of: sighting.adapter, level, at: time) else { return .passedOver }
      links[number].receive(sighting.rssi, at: time)
      guard follow(number, at: time) else { return .passedOver }
      counted = time
      guard filling > 0 else { return .followed }
      filling -= 1
      return .presence
    }

    /// Follows a link that received, if it is the followed or a better one; returns whether it
    /// counts.
    private mutating func follow(_ number: Int, at time: Int64) -> Bool {
      let (link, before) = (links[number], links[followed])
      if number == followed || before.count == 0 {
        followed = number
        return true
      }
      if before.isSilent(at: time, otherGap: link.gap) {
        // A louder link that is not silent will fill in soon.
        for index in links.indices where index != number && index != followed {
          if !links[index].isSilent(at: time), links[index].isLouder(than: link) { return false }
        }
        followed = number
        filling = before.isLouder(than: link) ? Self.maximumFilling : 0
        return true
      }
      guard link.isLouder(than: before) else { return false }
      followed = number
      filling = 0
      // An advert that counted through the other link does not count again.
      let passed = time.subtractingReportingOverflow(counted)
      return passed.overflow || passed.partialValue >= max(before.gap, link.gap) / 2
    }

    /// Returns the index for an adapter: its own, an empty one, or that of a link with less worth.
    private mutating func place(of adapter: UInt16, _ level: Float, at time: Int64) -> Int? {
      var worst: Int?
      for index in links.indices {
        if links[index].count == 0 || links[index].adapter == adapter {
          links[index].adapter = adapter
          return index
        }
        guard index != followed || links[index].isSilent(at: time) else { continue }
        if links[index].worth(at: time) < worst.map({ links[$0].worth(at: time) }) ?? .infinity {
          worst = index
        }
      }
      guard let worst, links[worst].worth(at: time) < level else { return nil }
      links[worst] = AdapterLink()
      links[worst].adapter = adapter
      return worst
    }
  }
}
