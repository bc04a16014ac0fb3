import ArgumentParser
import Frontends
import LocationSources
import Records
import Webhooks

/// A type that reads an argument by its initializer from text.
protocol TextArgument: ExpressibleByArgument {
  init?(_ text: String)
}

extension TextArgument {
  init?(argument: String) { self.init(argument) }
}

extension AdapterOffset: TextArgument {}
extension BeaconCalibration: TextArgument {}
extension Boundary: TextArgument {}
extension GPSDAddress: TextArgument {}
extension Pin: TextArgument {}
extension PositionArgument: TextArgument {}
extension WebhookURL: TextArgument {}
extension WrittenTime: TextArgument {}

extension Seconds: ExpressibleByArgument {}
