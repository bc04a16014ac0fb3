package import Advertising
import Glibc
package import HCIPackets
package import Scanning

/// Keeps an advert on air with one adapter, for as long as it runs.
///
/// It goes on where the adapter comes back, is switched on again or was reset, and where another program took the
/// advert down; it reports each time. When it ends, the advert is taken down.
package struct Advertiser: ~Copyable {
  package enum Event: Hashable, Sendable {
    /// The advert is on air: with which adapter, by its name and the address that is sent, and whether by commands
    /// of Bluetooth 5.
    case onAir(adapter: String, address: BluetoothAddress, isExtended: Bool)
    /// The advert is not on air any more: why, for a person.
    case offAir(String)
  }

  private let data: [UInt8]
  private let parameters: AdvertisingParameters
  private let usesRandomAddress: Bool
  private let randomAddress: BluetoothAddress
  /// The adapter that serves the requested name.
  private var target: AdapterTarget
  /// Its name on the host when it was last seen.
  private var title = "the adapter"
  /// Whether the adapter may be switched on: not where somebody switched it off.
  private var maySwitchOn = true
  private var advert: AdvertOnAir?
  private var began = MonotonicTime.now
  private var retry = Backoff(first: 250_000_000, longest: 5_000_000_000)
  private var next = MonotonicTime(nanoseconds: .min)

  /// Creates an advertiser of AD structures, which does nothing yet. Without a name it uses the first adapter that
  /// is there. An adapter without an address of its own always advertises with one that was drawn at random.
  package init(
    adapter: AdapterName?, data: [UInt8], parameters: AdvertisingParameters, usesRandomAddress: Bool
  ) {
    (self.data, self.parameters, self.usesRandomAddress) = (data, parameters, usesRandomAddress)
    target = AdapterTarget(adapter)
    // A static address: its two upper bits are set, and not all others are the same (Vol 6, Part B, §1.3.2.1).
    randomAddress = BluetoothAddress(
      rawValue: UInt64.random(in: 1..<0x3FFF_FFFF_FFFF) | 0xC000_0000_0000)
  }

  deinit { advert?.takeDown() }

  /// Puts the advert on air for the first time.
  package mutating func start() throws(AdvertisingFailure) -> Event {
    let adapter = try find()
    try prepare(adapter)
    let isRandom = usesRandomAddress || adapter.address == nil
    var parameters = parameters
    parameters.randomAddress = isRandom ? randomAddress : nil
    let advert = try AdvertOnAir(adapter, parameters, data)
    let isExtended = advert.isExtended
    self.advert = consume advert
    began = MonotonicTime.now
    maySwitchOn = false
    return .onAir(
      adapter: adapter.name, address: parameters.randomAddress ?? adapter.address ?? randomAddress,
      isExtended: isExtended)
  }

  /// Waits some milliseconds at most, and does what has become necessary; `nil` where nothing happened. It throws where it
  /// cannot go on: where it is not permitted any more, or the adapter that came back cannot do it.
  package mutating func step(_ limit: Int32 = 250) throws(AdvertisingFailure) -> Event? {
    if let loss = advert?.wait(limit) { return lost(loss) }
    if advert != nil {
      // What was long on air did not fall to another program that does so again and again.
      if MonotonicTime.now.nanoseconds(since: began) > 30_000_000_000 { retry.reset() }
      return nil
    }
    guard MonotonicTime.now >= next else {
      pause(limit)
      return nil
    }
    do {
      return try start()
    } catch {
      next = MonotonicTime.now.advanced(by: retry.next())
      guard error.isPassing else { throw error }
      if error.isAbsence { maySwitchOn = true }
      pause(limit)
      return nil
    }
  }

  package var isOnAir: Bool { advert != nil }

  private mutating func lost(_ loss: AdvertOnAir.Loss) -> Event {
    // Where the adapter is gone there is nothing to take down.
    advert = nil
    next = MonotonicTime.now.advanced(by: retry.next())
    if loss == .adapter(.removed) || loss == .adapter(.blocked) { maySwitchOn = true }
    return .offAir(loss.sentence(title))
  }

  /// Returns the adapter that serves the requested name.
  private mutating func find() throws(AdvertisingFailure) -> Adapter {
    let all: [Adapter]
    do throws(HCISocketError) {
      all = try Adapter.all()
    } catch {
      throw error.condition == .noBluetooth
        ? .condition(.noBluetooth, adapter: "Bluetooth") : .failed(.socket(error))
    }
    let adapter = target.choose(among: all, isHeld: HCISystem.host.isHeld)
    guard let adapter else {
      throw target.name.map { .condition(.removed, adapter: "\($0)") } ?? .noAdapter
    }
    _ = target.found(adapter)
    title = adapter.name
    return adapter
  }

  /// Has the adapter switched on.
  private func prepare(_ adapter: Adapter) throws(AdvertisingFailure) {
    if adapter.block != nil { throw .condition(.blocked, adapter: adapter.name) }
    guard maySwitchOn || adapter.isUp else { throw .condition(.down, adapter: adapter.name) }
    do throws(HCISocketError) {
      // Also where it is on: the kernel switches off what it had only started itself to look at.
      if maySwitchOn { try HCISystem.host.switchOn(adapter.index) }
    } catch {
      guard !adapter.isUp else { return }
      let condition: ScannerHealth.Condition =
        switch error.errno {
        case ERFKILL: .blocked
        case ENODEV: .removed
        case ETIMEDOUT: .notAnswering
        default: .down
        }
      throw .condition(condition, adapter: adapter.name)
    }
  }

  private func pause(_ milliseconds: Int32) {
    // A signal ends it early.
    _ = poll(nil, 0, milliseconds)
  }
}
