import Advertising
import ArgumentParser
import Frontends
import HCIPackets
import LiveScanning
import Scanning

struct AdvertiseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "advertise",
    abstract: "Send an iBeacon, for as long as the command runs.",
    discussion: """
      The advert is that of a region's peripheralData(withMeasuredPower:), not connectable. It is \
      taken down at the end, but not where the process is killed: then the controller advertises \
      until it is switched off. Where the adapter comes back or is reset, it advertises again.

      Adapters of Bluetooth 5 take its commands, and advertise beside other programs. Packets are \
      those of Bluetooth 4, which every phone receives, unless --extended is given. CAP_NET_RAW is \
      enough where the adapter is on; switching it on needs CAP_NET_ADMIN.

      EXAMPLES
        beaconscan advertise --uuid E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 \\
          --major 1 --minor 2 --duration 3
      """)

  @Option(
    Setting(
      SettingDescription("uuid", "The proximity UUID.", "uuid"),
      valid: ProximityUUID.requirement, read: ProximityUUID.init))
  var uuid: ProximityUUID

  @Option(Inputs.number16("major", "The major.", standard: 0)) var major: UInt16
  @Option(Inputs.number16("minor", "The minor.", standard: 0)) var minor: UInt16

  @Option(
    .whole(
      "measured-power", "The power that the advert states for 1 m.", "dBm",
      in: -128...127, standard: -59,
      kind: "a signal strength in dBm such as -59"))
  var measuredPower: Int8

  @Option(
    Setting(
      "adapter", "The adapter: hci0, or its address AA:BB:CC:DD:EE:FF.", "adapter",
      shown: "the first", completion: .adapter,
      valid: "write hci0, hci1 and so on, or its address such as 00:1B:DC:0F:10:07",
      read: AdapterName.init))
  var adapter: AdapterName?

  @Option(
    Setting(
      "interval", "How often: 20ms to 10.24s.", "time", standard: AdvertisingPeriod.standard,
      shown: "100ms", valid: "write a time from 20ms to 10.24s",
      read: AdvertisingPeriod.init(argument:)))
  var interval: AdvertisingPeriod

  @Flag(.flag("legacy", "Send packets of Bluetooth 4, which every phone receives, as by default."))
  var legacy: Bool

  @Flag(.flag("extended", "Send packets of Bluetooth 5.")) var extended: Bool

  @Flag(.flag("tx-power", "With --extended: send the transmit power, too.")) var txPower: Bool

  @Flag(
    .flag(
      "random-address", "Advertise with an address drawn at random, not with the adapter's own."))
  var randomAddress: Bool

  @Option(Inputs.duration.rare) var duration: Seconds?
  @Flag(Inputs.quiet.rare) var quiet: Bool

  @OptionGroup(title: "Input") var configuration: ConfigurationOption

  func validate() throws {
    if legacy, extended {
      throw ValidationError("--legacy and --extended contradict each other; give one of them.")
    }
    if txPower, !extended {
      throw ValidationError(
        "--tx-power needs --extended: beside an iBeacon, a packet of Bluetooth 4 has no room for it."
      )
    }
  }

  func run() throws {
    let identity = BeaconIdentity(uuid: uuid, major: major, minor: minor)
    let beacon = IBeacon(identity: identity, measuredPower: measuredPower)
    let parameters = AdvertisingParameters(
      interval: interval.units, packets: extended ? .extended : .legacy,
      includesTransmitPower: txPower)
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
      if case .condition(.noBluetooth, _) = error,
        let diagnosis = CommandError(preventing: Doctor.findings().filter { $0.subject == .kernel })
      {
        throw diagnosis
      }
      throw CommandError(error.isPermission ? .noPermission : .unavailable, "\(error)")
    }
    status?.clear()
  }

  private func report(_ event: Advertiser.Event, _ status: StatusLine?) {
    guard !quiet else { return }
    status?.clear()
    switch event {
    case .onAir(let adapter, let address, let isExtended):
      let kind = extended ? "Bluetooth 5" : "Bluetooth 4"
      let commands = isExtended && !extended ? ", by commands of Bluetooth 5" : ""
      printError(
        "\(adapter) (\(address)) advertises \(uuid):\(major):\(minor) every \(interval) in packets "
          + "of \(kind)\(commands)")
    case .offAir(let reason): printError("off air: \(reason)")
    }
  }
}

/// An advertising interval from 20 ms to 10.24 s, written as `100ms`, `0.5s` or `2s`.
struct AdvertisingPeriod: CustomStringConvertible, Hashable {
  /// The interval in units of 0.625 ms.
  let units: UInt32
  let description: String

  /// 100 ms, Apple's interval for beacons.
  static let standard = AdvertisingPeriod(units: 160, description: "100ms")
}

extension AdvertisingPeriod {
  init?(argument: String) {
    guard let seconds = Seconds(argument: argument) else { return nil }
    let milliseconds = seconds.value * 1000
    guard milliseconds >= 20, milliseconds <= 10240 else { return nil }
    self.init(units: UInt32((milliseconds / 0.625).rounded()), description: argument)
  }
}
