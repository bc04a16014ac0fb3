package import BrokerLink
package import HTTPServing
package import ServiceCore
package import Storage
package import Webhooks

package struct ServiceConfiguration: Sendable {
  package var version: String
  package var addresses: [HTTPServer.Address]
  package var access: AccessRules
  package var regions: RegionConfiguration
  package var beacons: BeaconService.Configuration
  package var database: String?
  /// A database whose regions to adopt if the main one has none.
  package var formerDatabase: String?
  package var history = Store.Limits()
  /// Whether to record presence, for which named beacons and those of regions are ranged always.
  package var recordsPresence = false
  package var broker: BrokerConfiguration?
  /// The fleet to report to; `nil` for none.
  package var fleet: FleetConfiguration?
  /// The apps to receive for; `nil` for none.
  package var apps: AppConfiguration?
  package var webhooks: (webhooks: WebhookConfiguration, events: Set<String>)?

  package init(
    version: String, addresses: [HTTPServer.Address], access: AccessRules,
    regions: RegionConfiguration, beacons: BeaconService.Configuration
  ) {
    self.version = version
    self.addresses = addresses
    self.access = access
    self.regions = regions
    self.beacons = beacons
  }

  /// The page's URL for other machines, with a host that the access rules accept. `nil` if they
  /// cannot reach it, or its port is known only after listening.
  var pageURL: String? {
    let hosts = access.hosts.subtracting(AccessRules().hosts).filter { !$0.hasPrefix("127.") }
    return addresses.lazy.compactMap { address -> String? in
      guard case .host(let name, let port) = address, port != 0 else { return nil }
      let isEvery = name == "0.0.0.0" || name == "::"
      let own = name.contains(":") ? "[\(name)]" : name.lowercased()
      guard let host = isEvery ? hosts.min() : hosts.contains(own) ? own : nil else { return nil }
      return "http://\(host):\(port)/"
    }.first
  }
}

/// Where apps connect, and where their data is stored.
package struct AppConfiguration: Sendable {
  package enum Socket: Sendable {
    /// The path of a Unix socket to make.
    case path(String)
    /// Unix sockets that listen already.
    case inherited([CInt])
  }

  package var socket: Socket
  /// The folder of the apps' databases and of the decisions about them.
  package var folder: String

  package init(socket: Socket, folder: String) {
    self.socket = socket
    self.folder = folder
  }
}
