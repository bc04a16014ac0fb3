import Advertising
import ArgumentParser
import Frontends
import HCIPackets
import LiveScanning
import Scanning

struct AdvertiseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "advertise", _superCommandName: Beaconscan.name,
    abstract: "Send an iBeacon, for as long as the command runs.",
    discussion: """
      The advert is that of a region's peripheralData(withMeasuredPower:), not connectable. It is \
      taken down at the end: after --duration, at Ctrl-C, SIGTERM or SIGHUP, and at an error. Not \
      where the process is killed: then the controller advertises until it is switched off and on. \
      Where the adapter goes and comes back, is switched on again or is reset, it advertises \
      again.

      Adapters of Bluetooth 5 take its commands, but packets are those of Bluetooth 4, which every \
      phone receives, unless --extended is given. Such an adapter advertises beside other \
      programs; one of Bluetooth 4 has one advert for all.

      CAP_NET_RAW is enough where the adapter is on; switching it on needs CAP_NET_ADMIN.

      EXAMPLES
        beaconscan advertise --uuid E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 \\
          --major 1 --minor 2 --duration 3
        beaconscan advertise --uuid E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 \\
          --major 1 --minor 2 --adapter hci0 --interval 250ms \\
          --measured-power=-62 --random-address --duration 3
      """)

  @Option(help: ArgumentHelp("The proximity UUID.", valueName: "uuid"))
  var uuid: ProximityUUID

  @Option(help: ArgumentHelp("The major.", valueName: "number"))
  var major: UInt16 = 0

  @Option(help: ArgumentHelp("The minor.", valueName: "number"))
  var minor: UInt16 = 0

  @Option(
    help: ArgumentHelp(
      "The power that the advert states for 1 m, in dBm: -128 to 127.", valueName: "dBm"))
  var measuredPower: Int8 = -59

  @Option(
    help: ArgumentHelp(
      "The adapter: hci0, or its address AA:BB:CC:DD:EE:FF; else the first.", valueName: "adapter"))
  var adapter: AdapterName?

  @Option(help: ArgumentHelp("How often: 20ms to 10.24s.", valueName: "time"))
  var interval = AdvertisingPeriod.standard

  @Flag(help: "Which packets go on air: those of Bluetooth 4, or those of Bluetooth 5.")
  var packets = AdvertisingParameters.Packets.legacy

  @Flag(help: "With --extended: send the transmit power, too.")
  var txPower = false

  @Flag(help: "Advertise with an address drawn at random, not with the adapter's own.")
  var randomAddress = false

  @Option(help: ArgumentHelp("Stop after so long: 10, 10s, 250ms or 15m.", valueName: "time"))
  var duration: Seconds?

  @Flag(name: .shortAndLong, help: "Write only errors to standard error.")
  var quiet = false

  @OptionGroup var configuration: ConfigurationOption

  func validate() throws {
    try checkDuration(duration)
    if txPower, packets == .legacy {
      throw ValidationError(
        "--tx-power needs --extended: beside an iBeacon, a packet of Bluetooth 4 has no room for it."
      )
    }
  }

  func run() throws {
    let identity = BeaconIdentity(uuid: uuid, major: major, minor: minor)
    let beacon = IBeacon(identity: identity, measuredPower: measuredPower)
    let parameters = AdvertisingParameters(
      interval: interval.units, packets: packets, includesTransmitPower: txPower)
    var advertiser = Advertiser(
      adapter: adapter, data: beacon.advertisingData, parameters: parameters,
      usesRandomAddress: randomAddress)
    let status = quiet ? nil : StatusLine()
    do throws(AdvertisingFailure) {
      report(try advertiser.start(), status)
      let began = SuspendingClock.now
      while !Interrupt.isRequested {
        let elapsed = began.duration(to: .now)
        let left = duration.map { .seconds($0.value) - elapsed } ?? .seconds(1)
        if left <= .zero { break }
        if let event = try advertiser.step(Int32(min(left / .milliseconds(1) + 1, 250))) {
          report(event, status)
        }
        status?.show {
          "\(advertiser.isOnAir ? "on air" : "off air, trying again") (\(elapsed.components.seconds) s)"
        }
      }
    } catch {
      status?.clear()
      throw CommandError(error.isPermission ? .noPermission : .unavailable, "\(error)")
    }
    status?.clear()
  }

  private func report(_ event: Advertiser.Event, _ status: StatusLine?) {
    guard !quiet else { return }
    status?.clear()
    switch event {
    case .onAir(let adapter, let address, let isExtended):
      let kind = packets == .legacy ? "Bluetooth 4" : "Bluetooth 5"
      let commands = isExtended && packets == .legacy ? ", by commands of Bluetooth 5" : ""
      printError(
        "\(adapter) (\(address)) advertises \(uuid):\(major):\(minor) every \(interval) in packets "
          + "of \(kind)\(commands)")
    case .offAir(let reason): printError("off air: \(reason)")
    }
  }
}

extension AdvertisingParameters.Packets: EnumerableFlag {}

/// An advertising interval from 20 ms to 10.24 s, written as `100ms`, `0.5s` or `2s`.
struct AdvertisingPeriod: CustomStringConvertible, Hashable {
  /// The interval in units of 0.625 ms.
  let units: UInt32
  let description: String

  /// 100 ms, Apple's interval for beacons.
  static let standard = AdvertisingPeriod(units: 160, description: "100ms")
}

extension AdvertisingPeriod: ExpressibleByArgument {
  init?(argument: String) {
    guard let seconds = Seconds(argument: argument) else { return nil }
    let milliseconds = seconds.value * 1000
    guard milliseconds >= 20, milliseconds <= 10240 else { return nil }
    self.init(units: UInt32((milliseconds / 0.625).rounded()), description: argument)
  }
}
