public import Advertising
public import Scanning

/// What is wrong with a beacon's identity or frame, by its evidence.
public struct IdentityFinding: Sendable, Hashable, Codable, CustomStringConvertible {
  /// One of the senders of an identity.
  public struct Sender: Sendable, Hashable, Codable {
    /// The address.
    public var address: BluetoothAddress
    /// The kind of address.
    public var addressType: AddressType
    /// The mean signal strength, in dBm; `nil` where none was measured.
    public var rssi: Double?
    /// The number of sightings that the mean rests on.
    public var sightings: Int
  }

  /// What is wrong.
  public enum Problem: Sendable, Hashable, Codable {
    /// Several senders use the identity at once: clones, relays, or beacons that were given the same numbers. The
    /// strongest first.
    case severalSenders([Sender])
    /// The frame states a measured power, in dBm, that the signal, in dBm, contradicts.
    case measuredPower(Int8, rssi: Double)
  }

  /// The beacon.
  public var beacon: BeaconIdentity
  /// When the evidence was enough.
  public var time: MonotonicTime
  /// What is wrong.
  public var problem: Problem

  /// One sentence for people: what is wrong, its evidence, and what to do.
  public var description: String {
    func level(_ rssi: Double) -> String { "\(Int(rssi.rounded())) dBm" }
    let name = "\(beacon.uuid):\(beacon.major):\(beacon.minor)"
    switch problem {
    case .severalSenders(let senders):
      let list = senders.map { "\($0.address)" + ($0.rssi.map { " at \(level($0))" } ?? "") }
      return
        "\(name) is sent by \(senders.count) senders at once: \(list.joined(separator: ", ")); "
        + "give each its own identity, or use one alone with --pin \(name)=ADDRESS"
    case .measuredPower(let power, let rssi):
      return "\(name) states \(power) dBm at 1 m, but is received at \(level(rssi)); its distance "
        + "is wrong until it is calibrated, for example with --measured-power"
    }
  }
}

/// Finds identities that several senders use at once.
///
/// It is given a sighting whose sender's address differs from that of the sighting before. A private address that
/// is changed now and then never comes back; an address that comes back again and again belongs to a sender that
/// sends beside the other. Two such senders are reported if both addresses are fixed ones (public or random static,
/// Core Specification, Vol 6, Part B, §1.3), or if their signals lie too far apart to be one device's.
///
/// At most 1,024 identities of 4 senders each are followed: of more, the one that changed longest ago makes room.
package struct IdentityWatch: Sendable {
  private struct Sender {
    var address: BluetoothAddress
    var type: AddressType
    var sum = 0.0
    var squares = 0.0
    var measured = 0
    var returns = 0

    var mean: Double? { measured == 0 ? nil : sum / Double(measured) }
    /// The variance of the mean, with the half dB that rounding costs.
    var variance: Double {
      guard measured > 1, let mean else { return .infinity }
      let spread = max(0, squares / Double(measured) - mean * mean)
      return (spread + 0.25) / Double(measured)
    }
    /// Whether the address stays as it is: the two highest bits of a random static address are set.
    var isFixed: Bool { type != .random || address.rawValue >> 46 == 0b11 }

    mutating func receive(_ rssi: Int8?) {
      guard let rssi else { return }
      measured += 1
      sum += Double(rssi)
      squares += Double(rssi) * Double(rssi)
    }
  }

  private struct History {
    var senders: [Sender]
    var began: MonotonicTime
    var latest: MonotonicTime
    var isReported = false
  }

  private static let (maximumIdentities, maximumSenders) = (1024, 4)
  /// A sender must come back so often within so many seconds.
  private static let (neededReturns, windowSeconds) = (3, 60.0)
  /// Signals this far apart, in dB, and this many standard errors, are not one device's.
  private static let (leastDifference, leastErrors) = (6.0, 4.0)

  private var histories: [BeaconIdentity: History] = [:]

  /// Creates a watch that has received nothing.
  package init() {}

  /// Receives a sighting of another sender than the one before, and returns what was found, once for each identity.
  package mutating func receive(
    _ sighting: Sighting, after previous: (address: BluetoothAddress, type: AddressType)
  ) -> IdentityFinding? {
    var history =
      histories[sighting.beacon]
      ?? History(
        senders: [Sender(address: previous.address, type: previous.type)], began: sighting.time,
        latest: sighting.time)
    history.latest = sighting.time
    if sighting.time.seconds(since: history.began) > Self.windowSeconds {
      history.began = sighting.time
      for index in history.senders.indices { history.senders[index].returns = 0 }
    }
    if let index = history.senders.firstIndex(where: { $0.address == sighting.address }) {
      history.senders[index].returns += 1
      history.senders[index].receive(sighting.rssi)
    } else {
      if history.senders.count == Self.maximumSenders { history.senders.removeFirst() }
      var sender = Sender(address: sighting.address, type: sighting.addressType)
      sender.receive(sighting.rssi)
      history.senders.append(sender)
    }
    defer { keep(history, of: sighting.beacon) }
    guard !history.isReported else { return nil }
    let senders = history.senders.filter { $0.returns >= Self.neededReturns }
      .sorted { $0.mean ?? -.infinity > $1.mean ?? -.infinity }
    guard let loudest = senders.first, let faintest = senders.last, senders.count > 1,
      senders.allSatisfy(\.isFixed) || Self.differ(loudest, faintest)
    else { return nil }
    history.isReported = true
    return IdentityFinding(
      beacon: sighting.beacon, time: sighting.time,
      problem: .severalSenders(
        senders.map {
          IdentityFinding.Sender(
            address: $0.address, addressType: $0.type, rssi: $0.mean, sightings: $0.measured)
        }))
  }

  private mutating func keep(_ history: History, of beacon: BeaconIdentity) {
    if histories[beacon] == nil, histories.count >= Self.maximumIdentities,
      let oldest = histories.min(by: { $0.value.latest < $1.value.latest })
    {
      histories[oldest.key] = nil
    }
    histories[beacon] = history
  }

  private static func differ(_ loud: Sender, _ faint: Sender) -> Bool {
    guard let high = loud.mean, let low = faint.mean else { return false }
    let error = (loud.variance + faint.variance).squareRoot()
    return high - low >= max(leastDifference, leastErrors * error)
  }
}
