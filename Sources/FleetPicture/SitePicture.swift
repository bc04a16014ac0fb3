/// The state of a site in a second, as its worker publishes it every few seconds. A site with many
/// beacons has several parts, each a message, with the same receivers.
package struct SitePicture: Codable, Hashable, Sendable {
  package struct Receiver: Codable, Hashable, Sendable {
    /// What it does with the configurations that are sent to it, as it reports it.
    package struct Configuration: Codable, Hashable, Sendable {
      /// The version in use.
      package var version: String?
      /// The version that is tried.
      package var trial: String?
      /// The last version that it does not use, and the reason.
      package var refused: String?
      package var reason: String?

      package init(
        version: String? = nil, trial: String? = nil, refused: String? = nil, reason: String? = nil
      ) {
        self.version = version
        self.trial = trial
        self.refused = refused
        self.reason = reason
      }
    }

    package var name: String
    /// The end of its last report, by its own clock, in RFC 3339; `nil` if it has never reported.
    package var lastReport: String?
    /// Whether it did not report in this second.
    package var isMissing: Bool
    /// The reason that it receives nothing, as it reports it.
    package var receptionLost: String?
    /// The beacons of its last report.
    package var beacons: Int
    /// The seconds by which its clock is ahead of the others, if that is more than two.
    package var clockDifference: Double?
    /// The reason that its last report could not be used.
    package var refusal: String?
    /// `nil` if it has none.
    package var configuration: Configuration?

    package init(
      name: String, lastReport: String?, isMissing: Bool, receptionLost: String?, beacons: Int,
      clockDifference: Double?, refusal: String? = nil, configuration: Configuration? = nil
    ) {
      self.name = name
      self.lastReport = lastReport
      self.isMissing = isMissing
      self.receptionLost = receptionLost
      self.beacons = beacons
      self.clockDifference = clockDifference
      self.refusal = refusal
      self.configuration = configuration
    }
  }

  package struct Beacon: Codable, Hashable, Sendable {
    /// `UUID:major:minor`.
    package var beacon: String
    /// The reported room, or `nil` if the beacon is outside or its room is not known.
    package var room: String?
    package var isOutside: Bool
    /// The end of the second of its last change, in RFC 3339.
    package var since: String
    /// The probability of the reported place.
    package var probability: Double
    /// The most probable room, or `nil` if that is the outside.
    package var best: String?
    package var bestProbability: Double
    package var runnerUp: String?
    package var runnerUpProbability: Double
    /// The mean of its places in the most probable room, in meters on the plan.
    package var x: Double?
    package var y: Double?
    /// The last second in which a receiver received it, in RFC 3339.
    package var received: String
    /// How much weaker it is received for a day than before in the same places, in dB, if that is
    /// much.
    package var fading: Double?

    package init(
      beacon: String, room: String?, isOutside: Bool, since: String, probability: Double,
      best: String?, bestProbability: Double, runnerUp: String?, runnerUpProbability: Double,
      x: Double?, y: Double?, received: String, fading: Double? = nil
    ) {
      self.beacon = beacon
      self.room = room
      self.isOutside = isOutside
      self.since = since
      self.probability = probability
      self.best = best
      self.bestProbability = bestProbability
      self.runnerUp = runnerUp
      self.runnerUpProbability = runnerUpProbability
      self.x = x
      self.y = y
      self.received = received
      self.fading = fading
    }
  }

  /// The most beacons of a message. Readers cut one with more than 1 MiB: with the longest names of
  /// rooms a beacon has 1.1 kB, and with many receivers half of the message is of them.
  package static let maximumBeacons = 500

  package var site: String
  /// The end of the second, in RFC 3339.
  package var time: String
  /// The number of this part, from 0, and the number of parts.
  package var part: Int
  package var parts: Int
  package var receivers: [Receiver]
  package var beacons: [Beacon]
  /// Receivers that report for the site, and that its file does not have; at most 100.
  package var strangers: [String]
  /// The reports since the worker took the site that it could not use: repeated, too late, of a
  /// stranger, or not valid.
  package var ignored: Int
  /// The reason that the worker has no rooms for the site, such as an error in its file.
  package var fault: String?

  package init(
    site: String, time: String, part: Int = 0, parts: Int = 1, receivers: [Receiver],
    beacons: [Beacon], strangers: [String] = [], ignored: Int = 0, fault: String? = nil
  ) {
    self.site = site
    self.time = time
    self.part = part
    self.parts = parts
    self.receivers = receivers
    self.beacons = beacons
    self.strangers = strangers
    self.ignored = ignored
    self.fault = fault
  }
}

extension SitePicture {
  package init(json: [UInt8]) throws { self = try PictureJSON.decode(json) }
  package var json: [UInt8] { PictureJSON.encode(self) }
}
