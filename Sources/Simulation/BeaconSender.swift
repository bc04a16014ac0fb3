import Advertising

struct BeaconSender {
  let identity: BeaconIdentity
  let line: Line
  let path: PathLoss
  private(set) var next: Int64

  private var report: AirReport
  private let interval: Double
  private let loss: Double
  private let hasSignal: Bool
  private var fading: Fading
  private var random: RandomSource

  init(_ beacon: Scenario.Beacon, number: Int, in scenario: Scenario, stream: Int) {
    identity = beacon.identity(number)
    line = Line(beacon.course, number: number, of: beacon.count, duration: scenario.duration)
    path = PathLoss(
      power: Double(beacon.measuredPower) + beacon.txOffset,
      exponent: scenario.environment.pathLossExponent)
    let frame = IBeacon(identity: identity, measuredPower: beacon.measuredPower)
    let address =
      beacon.address.map { BluetoothAddress(rawValue: $0.rawValue + UInt64(number)) }
      ?? BluetoothAddress(rawValue: 0xC0_BE_AC_00_00_00 + UInt64(stream + 1))
    report = AirReport(
      data: Self.data(of: frame, extraBytes: beacon.extraBytes), address: address,
      addressType: beacon.addressType, pdu: beacon.pdu, rssi: 127, beacon: frame)
    interval = beacon.interval * 1000
    loss = beacon.loss ?? scenario.environment.loss
    hasSignal = beacon.hasSignal
    fading = Fading(
      deviation: beacon.noise ?? scenario.environment.noise,
      correlation: scenario.environment.noiseCorrelation)
    random = RandomSource(seed: scenario.seed, stream: stream)
    next = line.span.lowerBound + Int64(interval * random.uniform())
  }

  mutating func send(sensitivity: Double) -> AirReport? {
    let time = next
    // advDelay: 0 to 10 ms (Core Specification, Vol 6, Part B, §4.4.2.2.1).
    next += Int64(interval + 10_000 * random.uniform())
    let faded = fading.next(at: time, &random)
    let isLost = random.uniform() < loss
    guard let value = line.value(at: time), !isLost else { return nil }
    let level = (line.isDistance ? path.level(at: value) : value) + faded
    guard level >= sensitivity else { return nil }
    if hasSignal { report.rssi = signal(level) }
    return report
  }

  private static func data(of frame: IBeacon, extraBytes: Int) -> [UInt8] {
    guard extraBytes > 0 else { return frame.advertisingData }
    var data: [UInt8] = [0x02, 0x01, 0x06]
    var left = extraBytes
    while left > 0 {
      // Every structure needs at least 4 bytes, so at least 4 are left for the last one.
      let size = left <= 200 ? left : min(200, left - 4)
      // 0xFFFF: the company identifier for tests.
      data += [UInt8(size - 1), 0xFF, 0xFF, 0xFF] + Array(repeating: 0xA5, count: size - 4)
      left -= size
    }
    return data + frame.advertisingData.dropFirst(3)
  }
}

func signal(_ level: Double) -> Int8 { Int8(min(max(level.rounded(), -127), 20)) }
