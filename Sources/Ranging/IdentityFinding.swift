public import Advertising
public import Scanning

/// A problem with the identity or the frame of a beacon, with its evidence.
public struct IdentityFinding: Sendable, Hashable, Codable, CustomStringConvertible {
  /// One of the senders of an identity.
  public struct Sender: Sendable, Hashable, Codable {
    /// The address.
    public var address: BluetoothAddress
    /// The kind of address.
    public var addressType: AddressType
    /// The mean signal strength, in dBm; `nil` if none was measured.
    public var rssi: Double?
    /// The number of sightings in the mean.
    public var sightings: Int
  }

  /// The kinds of problem.
  public enum Problem: Sendable, Hashable, Codable {
    /// Several senders, strongest first, use the identity at once: clones, relays, or beacons that
    /// were given the same numbers.
    case severalSenders([Sender])
    /// The frame states a measured power, in dBm, that the signal, in dBm, contradicts.
    case measuredPower(Int8, rssi: Double)
  }

  /// The beacon.
  public var beacon: BeaconIdentity
  /// The time at which the evidence sufficed.
  public var time: MonotonicTime
  /// The problem.
  public var problem: Problem

  /// One sentence for people with the problem, its evidence, and the solution.
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
/// It receives each sighting whose sender's address differs from the previous sighting's. A private
/// address, once changed, never returns; an address that returns repeatedly belongs to a concurrent
/// sender. Two such senders are reported if both addresses are fixed (public or random static, Core
/// Specification, Vol 6, Part B, §1.3), or if their signals differ too much for one device.
///
/// It keeps at most 64 findings until they are removed.
///
/// At most 1,024 identities of 8 senders are kept. The identity that changed longest ago is evicted,
/// and the sender that returned least often.
package struct IdentityWatch: Sendable {
  private struct Sender {
    var address: BluetoothAddress
    var type: AddressType
    var sum = 0.0
    var squares = 0.0
    var measured = 0
    var returns = 0

    var mean: Double? { measured == 0 ? nil : sum / Double(measured) }
    /// The variance of the mean, including the rounding to whole dBm.
    var variance: Double {
      guard measured > 1, let mean else { return .infinity }
      let spread = max(0, squares / Double(measured) - mean * mean)
      return (spread + 0.25) / Double(measured)
    }
    /// Whether the address is fixed: the two highest bits of a random static address are set.
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

  private static let (maximumIdentities, maximumSenders) = (1024, 8)
  /// The number of returns that a sender needs, and the window for them in seconds.
  private static let (neededReturns, windowSeconds) = (3, 60.0)
  /// The least difference of two devices' signals, in dB, and in standard errors.
  private static let (leastDifference, leastErrors) = (6.0, 4.0)

  private static let maximumFindings = 64

  private var histories: [BeaconIdentity: History] = [:]
  /// The findings since ``removeFindings()``.
  package private(set) var findings: [IdentityFinding] = []

  package init() {}

  /// Removes and returns the findings. Each is reported once.
  package mutating func removeFindings() -> [IdentityFinding] {
    defer { findings.removeAll() }
    return findings
  }

  mutating func add(_ finding: IdentityFinding) {
    if findings.count < Self.maximumFindings { findings.append(finding) }
  }

  /// Receives a sighting whose sender differs from the previous one. Finds each identity once.
  package mutating func receive(
    _ sighting: Sighting, after previous: (address: BluetoothAddress, type: AddressType)
  ) {
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
      if history.senders.count == Self.maximumSenders,
        let least = history.senders.indices.min(by: {
          history.senders[$0].returns < history.senders[$1].returns
        })
      {
        history.senders.remove(at: least)
      }
      var sender = Sender(address: sighting.address, type: sighting.addressType)
      sender.receive(sighting.rssi)
      history.senders.append(sender)
    }
    defer { keep(history, of: sighting.beacon) }
    guard !history.isReported else { return }
    let senders = history.senders.filter { $0.returns > 0 }
      .sorted { $0.mean ?? -.infinity > $1.mean ?? -.infinity }
    let certain = senders.filter { $0.returns >= Self.neededReturns }
    guard let loudest = certain.first, let faintest = certain.last, certain.count > 1,
      certain.allSatisfy(\.isFixed) || Self.differ(loudest, faintest)
    else { return }
    history.isReported = true
    let found = senders.map {
      IdentityFinding.Sender(
        address: $0.address, addressType: $0.type, rssi: $0.mean, sightings: $0.measured)
    }
    add(
      IdentityFinding(
        beacon: sighting.beacon, time: sighting.time, problem: .severalSenders(found)))
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
