import Frontends
import Regions
import ServiceCore
import Testing

@testable import Embedding

/// The options of a scanner in a program.
@Suite struct OptionsTests {
  static let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"

  private static func options(_ all: [(String, String?)]) throws -> EmbeddingOptions {
    var options = EmbeddingOptions()
    for (name, value) in all { try options.set(name, to: value) }
    return options
  }

  @Test func everyOptionHasAValueThatIsValid() throws {
    let values: [String: String?] = [
      "active": nil, "adapter": "hci0", "always": "true", "adapter-offset": "hci1=3",
      "application": "kiosk",
      "backend": "hci", "boundary": "3m", "calibrate": "\(Self.uuid):1:2@power=-62",
      "coded": "false", "daemon": "required", "duration": "2m", "dwell": "500ms", "each": "true",
      "enter-count": "2/3",
      "enter-distance": "1.5", "enter-rssi": "-70", "environment": "2.2", "exit-after": "adaptive",
      "exit-distance": "3", "exit-rssi": "-80", "follow": nil, "gpsd": "localhost:2947",
      "heading": nil, "interval": "500ms", "locate": "true", "major": "1",
      "measured-power": "-59", "minor": "100", "model": "log-distance",
      "pin": "\(Self.uuid):1:2=C0:00:00:00:00:01", "position": "52.5163,13.3777,34",
      "quiet": nil, "range": nil, "raw": nil,
      "region": "lobby=\(Self.uuid):1,enter-distance=1,each", "replay": "visitor.btsnoop",
      "source": "gpsd", "speed": "10x", "state-file": "regions", "typical-distance": "2.5,6",
      "uuid": Self.uuid,
      "visits": nil,
    ]
    #expect(values.keys.sorted() == EmbeddingOptions.names)
    for (name, value) in values {
      var options = EmbeddingOptions()
      #expect(throws: Never.self, "\(name)") { try options.set(name, to: value) }
    }
  }

  @Test(arguments: [
    ("rgion", "x", "there is no option 'rgion'; the options are active, adapter, "),
    ("region", "lobby", "write NAME=UUID, NAME=UUID:MAJOR or NAME=UUID:MAJOR:MINOR"),
    ("region", "lobby=12", "has 32 hexadecimal digits, such as"),
    ("region", nil, "region needs a value: write NAME=UUID"),
    ("region", "stop=91,13,200", "a circle is NAME=LATITUDE,LONGITUDE,RADIUS with a latitude from"),
    ("source", "gps", "source: 'gps' cannot be used: write auto, gpsd, geoclue or fixed"),
    ("gpsd", "here there", "write HOST, HOST:PORT or the path of a Unix socket"),
    ("position", "52", "write LATITUDE,LONGITUDE or LATITUDE,LONGITUDE,ALTITUDE"),
    ("locate", "yes", "write true or false, or give no value"),
    ("uuid", "12", "uuid: '12' cannot be used: a proximity UUID has 32 hexadecimal digits"),
    ("major", "65536", "write a whole number from 0 to 65535"),
    ("exit-after", "soon", "exit-after: 'soon' cannot be used: write adaptive, or a number of"),
    ("enter-distance", "near", "write a distance in meters such as 1.5"),
    ("enter-count", "2", "write how many of how many sightings, such as 2/3"),
    ("interval", "1ms", "from 50ms to 1d"),
    ("speed", "fast", "write max, or a multiple"), ("backend", "usb", "write auto, hci or bluez"),
    ("adapter", "eth0", "write hci0, hci1 and so on"),
    ("range", "yes", "write true or false, or give no value"),
    ("measured-power", "5", "in dBm such as -59, from -100 to -1"),
    ("environment", "9", "from 0.5 to 8"), ("typical-distance", "3,1", "a factor such as 4"),
    ("adapter-offset", "60", "hci1=3, from -50 to 50"),
    ("calibrate", "x", "such as UUID:1:2@power=-62"), ("pin", "x", "UUID:MAJOR:MINOR=AA:BB"),
    ("model", "x", "write log-distance, "), ("replay", "", "write the name of a recording"),
  ])
  func aWrongValueIsRefusedWithWhatIsValid(name: String, value: String?, sentence: String) {
    var options = EmbeddingOptions()
    let error = #expect(throws: EmbeddingError.self) { try options.set(name, to: value) }
    let message = error?.description ?? ""
    #expect(message.contains(sentence), "\(message)")
  }

  @Test(arguments: [
    ([:], "there is nothing to report: set a region"),
    (["major": "1", "range": "true"], "need a uuid"),
    (["uuid": uuid, "interval": "2"], "set range too"),
    (["uuid": uuid, "raw": "true"], "set range too"),
    (["uuid": uuid, "speed": "1x"], "set replay too"),
    (["uuid": uuid, "replay": "x", "adapter": "hci0"], "set one of them"),
    (["uuid": uuid, "backend": "bluez", "coded": "true"], "needs raw HCI sockets"),
    (["uuid": uuid, "replay": "x", "adapter-offset": "AA:BB:CC:DD:EE:FF=3"], "name it as hci0"),
    (["locate": "true", "source": "fixed"], "source fixed needs a position LATITUDE,LONGITUDE"),
    (["locate": "true", "source": "gpsd", "position": "5,5"], "leave one of them out"),
    (
      ["locate": "true", "replay": "x", "gpsd": "localhost"], "gpsd is for live locations, and x is"
    ),
    (
      ["uuid": uuid, "position": "5,5"], "set locate, heading, visits or a region that is a circle"
    ),
    (["uuid": uuid, "model": "android-2013", "environment": "2"], "belongs to the model"),
    (
      ["uuid": uuid, "daemon": "required", "adapter": "hci0"], "set adapter or daemon required, not"
    ),
    (["uuid": uuid, "always": "true", "replay": "x"], "which replay excludes"),
    (["uuid": uuid, "always": "true", "daemon": "never"], "which daemon never excludes"),
  ])
  func optionsThatDoNotFitTogetherAreRefused(set: [String: String], sentence: String) throws {
    let options = try Self.options(set.map { ($0.key, $0.value) })
    let error = #expect(throws: EmbeddingError.self) { try options.check() }
    let message = error?.description ?? ""
    #expect(message.contains(sentence), "\(message)")
  }

  @Test func twoRegionsHaveTwoNames() throws {
    let options = try Self.options([
      ("region", "a=\(Self.uuid):1"), ("region", "a=\(Self.uuid):2"),
    ])
    let error = #expect(throws: EmbeddingError.self) { try options.check() }
    #expect(error?.description == "two regions are named 'a'; give each a name of its own")
    let circle = try Self.options([("region", "a=\(Self.uuid)"), ("region", "a=52,13,200")])
    #expect(throws: EmbeddingError.self) { try circle.check() }
  }

  @Test func aRegionsOwnRulesComeFirst() throws {
    let options = try Self.options([
      ("exit-after", "30"), ("enter-rssi", "-70"),
      ("region", "door=\(Self.uuid):1,enter-distance=1,each"), ("uuid", Self.uuid),
    ])
    let regions = try options.rules.apply(to: options.regions)
    #expect(regions.map(\.identifier) == [Self.uuid, "door"])
    #expect(regions[0].rules == nil)
    let rules = try #require(regions[1].rules)
    #expect(rules.exitTimeout == .fixed(seconds: 30))
    #expect(rules.distance == DistanceGate(enter: 1, exit: nil))
    #expect(rules.signal == nil)
    #expect(rules.reportsEachBeacon)
    #expect(try options.configuration.rules.signal == SignalGate(enter: -70, exit: nil))
  }

  @Test(arguments: [
    ("near=1", "region 'door': there is no rule 'near'; the rules are boundary, "),
    ("each,each", "region 'door': each is given twice"), ("dwell", "dwell needs a value"),
    ("each=1", "each: '1' cannot be used: write true or false"),
    ("exit-after=x", "region 'door': exit-after: 'x' cannot be used"),
    ("boundary=3m,enter-rssi=-70", "boundary is both the level to enter and to leave"),
  ])
  func aRegionsWrongRuleIsRefused(rules: String, sentence: String) throws {
    let options = try Self.options([("region", "door=\(Self.uuid),\(rules)")])
    let error = #expect(throws: OptionError.self) { try options.rules.apply(to: options.regions) }
    let message = error?.description ?? ""
    #expect(message.contains(sentence), "\(message)")
  }

  @Test func aRepeatedOptionIsAddedAndTheLastOfTheOthersCounts() throws {
    let options = try Self.options([
      ("replay", "a"), ("replay", "b"), ("exit-after", "5"), ("exit-after", "7"),
      ("each", "true"), ("each", "false"),
    ])
    #expect(options.replay == ["a", "b"])
    #expect(try options.configuration.rules.exitTimeout == .fixed(seconds: 7))
    #expect(try options.configuration.rules.reportsEachBeacon == false)
  }
}
