import Advertising
import HCIPackets

struct ClutterSender {
  enum Output {
    case report(AirReport)
    /// A command of the host. The controller answers it.
    case command(HCICommand)
    /// A packet of the controller, and the reports that a correct decoder finds in it.
    case packet([UInt8], [AirReport])
  }

  private(set) var next: Int64

  private let kind: Scenario.Clutter.Kind
  private let number: Int
  private let gap: Double
  private let level: Double
  private let address: BluetoothAddress
  private let imitated: IBeacon?
  private let isExtended: Bool
  private let loss: Double
  private var fading: Fading
  private var random: RandomSource
  private var sent = 0

  init(_ generator: Scenario.Clutter, number: Int, in scenario: Scenario, stream: Int) {
    kind = generator.kind
    self.number = number
    gap = 1e6 / generator.rate
    let share = generator.count > 1 ? Double(number) / Double(generator.count - 1) : 0.5
    let rssi = generator.rssi
    level = rssi.lowerBound + share * (rssi.upperBound - rssi.lowerBound)
    isExtended = scenario.format.isExtended
    loss = scenario.environment.loss
    fading = Fading(
      deviation: scenario.environment.noise, correlation: scenario.environment.noiseCorrelation)
    var random = RandomSource(seed: scenario.seed, stream: stream)
    // Apple's devices use resolvable private addresses (01…), the others static ones (11…).
    let top: UInt64 = kind == .appleNearby ? 0b01 : 0b11
    address = BluetoothAddress(rawValue: top << 46 | random.next() >> 18)
    imitated = kind == .spoofed ? Self.beacon(number, of: scenario) : nil
    next = Int64(gap * random.uniform())
    self.random = random
  }

  mutating func send(sensitivity: Double) -> Output? {
    let time = next
    next += max(1, Int64(gap * (0.5 + random.uniform())))
    sent += 1
    switch kind {
    case .hostCommands:
      let data = ClutterData.decoy(number).advertisingData
      return .command(HCICommand(.setAdvertisingData, [UInt8(data.count)] + data + [0]))
    case .vendorEvents: return .packet(ClutterData.vendorEvent(ClutterData.decoy(number)), [])
    default: break
    }
    let level = level + fading.next(at: time, &random)
    let isLost = random.uniform() < loss
    guard level >= sensitivity, !isLost else { return nil }
    var report = AirReport(data: [], address: address, rssi: signal(level))
    if kind == .truncatedEvents {
      let frame = ClutterData.beforeTheLie(number)
      report.beacon = frame
      report.data = frame.advertisingData
      return ClutterData.truncatedEvent(of: report, variant: sent, isExtended: isExtended)
    }
    report.beacon = imitated ?? (kind == .wrongPower ? ClutterData.wrongPower(number) : nil)
    report.data =
      report.beacon?.advertisingData
      ?? ClutterData.data(kind, number: number, variant: sent, &random)
    return .report(report)
  }

  private static func beacon(_ number: Int, of scenario: Scenario) -> IBeacon? {
    guard !scenario.beacons.isEmpty else { return nil }
    var rest = number % scenario.beacons.reduce(0) { $0 + $1.count }
    for beacon in scenario.beacons {
      if rest < beacon.count {
        return IBeacon(identity: beacon.identity(rest), measuredPower: beacon.measuredPower)
      }
      rest -= beacon.count
    }
    return nil
  }
}
