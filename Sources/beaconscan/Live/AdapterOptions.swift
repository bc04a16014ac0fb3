import ArgumentParser
import HCISockets
import Scanning

/// Options for the adapters that scan.
struct AdapterOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Scan with this adapter: hci0, or its address AA:BB:CC:DD:EE:FF; all for every adapter.",
      discussion:
        "May be given several times. Without it, and without --replay: the first that works.",
      valueName: "adapter"))
  var adapter: [AdapterArgument] = []

  @Option(name: .long, help: "How the adapter is spoken to: auto, hci (a raw socket) or bluez.")
  var backend = Backend.auto

  @Flag(name: .long, help: "Ask advertisers for their scan responses too, which costs them power.")
  var active = false

  @Flag(name: .long, help: "Receive on the Coded PHY too, where the adapter has it.")
  var coded = false

  /// How an adapter is spoken to.
  enum Backend: String, ExpressibleByArgument, CaseIterable {
    case auto, hci, bluez
  }

  func validate() throws {
    if adapter.count > 1, adapter.contains(.all) {
      throw ValidationError("--adapter all means every adapter; name no other beside it.")
    }
  }

  /// An option that only live scanning has and that was given.
  var given: String? {
    if !adapter.isEmpty { return "--adapter" }
    if backend != .auto { return "--backend" }
    if active { return "--active" }
    return coded ? "--coded" : nil
  }

  /// Whether more than one adapter may scan.
  var areSeveral: Bool { adapter.count > 1 || adapter.contains(.all) }

  /// Returns what the options request of live scanning.
  ///
  /// - Parameter offsets: How much stronger than true adapters measure, in dB.
  /// - Returns: The request.
  func request(offsets: [(AdapterName, Double)]) -> LiveSource.Request {
    let names = adapter.compactMap { if case .one(let name) = $0 { name } else { nil } }
    return LiveSource.Request(
      adapters: adapter.contains(.all) ? .all : names.isEmpty ? .firstUsable : .these(names),
      backend: backend, isActive: active, usesCodedPHY: coded, offsets: offsets)
  }
}

/// An adapter, or all.
enum AdapterArgument: ExpressibleByArgument, Hashable {
  case one(AdapterName)
  case all

  init?(argument: String) {
    if argument == "all" {
      self = .all
    } else if let name = AdapterName(argument) {
      self = .one(name)
    } else {
      return nil
    }
  }
}
