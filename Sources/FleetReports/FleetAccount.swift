/// The names of a receiver, or of a site's broker, at the fleet's broker.
///
/// Names of sites and receivers have neither dots nor slashes, so each is unambiguous.
package enum FleetAccount {
  /// Returns the user of a receiver's account, or of the broker of a site.
  package static func user(ofSite site: String, receiver: String?) -> String {
    receiver.map { "\(site).\($0)" } ?? site
  }

  /// Returns the user that reads the configurations of an account. It has the same password.
  package static func configurationUser(of user: String) -> String { "\(user)/configuration" }

  /// Returns the client identifier of a receiver's reports, or of the broker of a site.
  package static func client(ofSite site: String, receiver: String?) -> String {
    "beaconscan-fleet/\(site)" + (receiver.map { "/\($0)" } ?? "")
  }

  /// Returns the client identifier of the connection for configurations.
  package static func configurationClient(ofSite site: String, receiver: String?) -> String {
    "beaconscan-configuration/\(site)" + (receiver.map { "/\($0)" } ?? "")
  }
}
