package import Advertising
package import Clocks

/// The beacons that a receiver received in a stretch of time, usually one second.
///
/// A report without beacons is evidence too: the receiver worked, and received none.
package struct ReceiverReport: Equatable, Sendable {
  package static let version = 1
  package static let maximumBeacons = 4096
  /// The longest report, in bytes.
  package static let maximumLength = 1 << 20
  /// The longest text of ``Reception/lost(_:)`` and of a refusal, in Unicode scalars.
  package static let maximumReasonLength = 256
  package static let maximumNumber = (1 << 53) - 1
  package static let maximumSightings = 1_000_000
  /// The longest delay, in seconds: about four months.
  package static let maximumDelay = 1e7

  package enum Reception: Equatable, Sendable {
    case receiving
    /// Nothing can be received, for the reason given: the absence of beacons means nothing.
    case lost(String)
  }

  /// What the receiver does with the configurations that its fleet sends.
  package struct Configuration: Equatable, Sendable {
    package struct Refusal: Equatable, Sendable {
      package var version: ConfigurationVersion
      /// One sentence, at most ``ReceiverReport/maximumReasonLength`` Unicode scalars.
      package var reason: String

      package init(_ version: ConfigurationVersion, _ reason: String) {
        self.version = version
        self.reason = reason
      }
    }

    /// The version in use; `nil` if the fleet has sent none.
    package var version: ConfigurationVersion?
    /// The version that is tried, and takes the place of ``version`` if the receiver works with it.
    package var trial: ConfigurationVersion?
    /// The last version that cannot be used, until another one is.
    package var refusal: Refusal?

    package init(
      version: ConfigurationVersion? = nil, trial: ConfigurationVersion? = nil,
      refusal: Refusal? = nil
    ) {
      self.version = version
      self.trial = trial
      self.refusal = refusal
    }
  }

  package struct Beacon: Equatable, Sendable {
    package var beacon: BeaconIdentity
    package var sightings: Int
    /// The signal of the sightings that have a signal strength; `nil` if none has.
    package var signal: Signal?
    /// The signal strength at 1 m that the beacon's frames state, in dBm.
    package var measuredPower: Int8

    package init(
      _ beacon: BeaconIdentity, sightings: Int, signal: Signal?, measuredPower: Int8
    ) {
      self.beacon = beacon
      self.sightings = sightings
      self.signal = signal
      self.measuredPower = measuredPower
    }
  }

  package struct Signal: Equatable, Sendable {
    /// The mean, in dBm. A report states it in hundredths.
    package var mean: Double
    /// The variance of the sightings themselves, not an estimate from them, in dB². A report states
    /// it in hundredths.
    package var variance: Double
    /// The strongest, in dBm.
    package var maximum: Int8

    package init(mean: Double, variance: Double, maximum: Int8) {
      self.mean = mean
      self.variance = variance
      self.maximum = maximum
    }
  }

  package var site: String
  package var receiver: String
  /// A random number of the process that reports.
  package var boot: UInt64
  /// The number of the report in this boot: 1, 2, 3 and so on.
  package var number: Int
  /// The end of the stretch of time, by the receiver's wall clock. A report states it in
  /// milliseconds.
  package var time: WallClockTime
  /// The length of the stretch of time, in seconds. A report states it in milliseconds.
  package var seconds: Double
  package var reception: Reception
  package var configuration = Configuration()
  package var beacons: [Beacon]
  /// The time from ``time`` to the sending, in seconds, if it is 2 s or more; otherwise 0. A report
  /// states it in milliseconds.
  package var delay = 0.0

  package init(
    site: String, receiver: String, boot: UInt64, number: Int, time: WallClockTime,
    seconds: Double = 1, reception: Reception = .receiving, beacons: [Beacon] = []
  ) {
    self.site = site
    self.receiver = receiver
    self.boot = boot
    self.number = number
    self.time = time
    self.seconds = seconds
    self.reception = reception
    self.beacons = beacons
  }

  /// The topic of the report.
  package var topic: String { FleetTopic.reports(ofSite: site, receiver: receiver) }
}
