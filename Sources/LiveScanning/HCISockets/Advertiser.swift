package import Advertising
import Glibc
package import HCIPackets
package import Scanning

/// An advertiser that keeps an advert on air with one adapter, and takes it down at its end. It
/// continues after a return, a switch or a reset of the adapter, and after another program's
/// advert.
package struct Advertiser: ~Copyable {
  package enum Event: Hashable, Sendable {
    /// The advert is on air. The address is the one that is sent; extended means by Bluetooth 5.
    case onAir(adapter: String, address: BluetoothAddress, isExtended: Bool)
    case offAir(String)
  }

  private let data: [UInt8]
  private let parameters: AdvertisingParameters
  private let usesRandomAddress: Bool
  private let randomAddress: BluetoothAddress
  private var target: AdapterTarget
  /// Whether the adapter may be switched on: `false` after somebody switched it off.
  private var maySwitchOn = true
  private var advert: AdvertOnAir?
  private var began = MonotonicTime.now
  private var retry = Backoff(first: 250_000_000, longest: 5_000_000_000)
  private var next = MonotonicTime(nanoseconds: .min)

  /// Creates an advertiser of AD structures, which does nothing yet. Without a name it uses the
  /// first adapter. An adapter without an address uses a random one.
  package init(
    adapter: AdapterName?, data: [UInt8], parameters: AdvertisingParameters, usesRandomAddress: Bool
  ) {
    self.data = data
    self.parameters = parameters
    self.usesRandomAddress = usesRandomAddress
    target = AdapterTarget(adapter)
    // A static address: two upper bits set, the others not all the same (Vol 6, Part B, §1.3.2.1).
    randomAddress = BluetoothAddress(
      rawValue: UInt64.random(in: 1..<0x3FFF_FFFF_FFFF) | 0xC000_0000_0000)
  }

  deinit { advert?.takeDown() }

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

  /// Waits at most the given milliseconds and does what is due; returns `nil` if nothing happened.
  /// Throws if it cannot continue.
  package mutating func step(_ limit: Int32 = 250) throws(AdvertisingFailure) -> Event? {
    if let loss = advert?.wait(limit) { return lost(loss) }
    if advert != nil {
      // An advert that was on air for long does not fall again and again to another program.
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
    advert = nil
    next = MonotonicTime.now.advanced(by: retry.next())
    if loss == .adapter(.removed) || loss == .adapter(.blocked) { maySwitchOn = true }
    return .offAir(loss.sentence(target.title))
  }

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
    return adapter
  }

  private func prepare(_ adapter: Adapter) throws(AdvertisingFailure) {
    if adapter.block != nil { throw .condition(.blocked, adapter: adapter.name) }
    guard maySwitchOn || adapter.isUp else { throw .condition(.down, adapter: adapter.name) }
    do throws(HCISocketError) {
      // Even if it is on: the kernel switches off an adapter that it started only to examine it.
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
    _ = poll(nil, 0, milliseconds)
  }
}
