import ArgumentParser
import BrokerLink
import FleetEngine

/// The fleet's engine, as each subcommand that uses it is told.
struct EngineOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The nodes of RabbitMQ, separated by commas. Default: localhost:5672, with TLS 5671.",
      valueName: "host[:port],…"))
  var engine = "localhost"

  @Option(help: ArgumentHelp("The virtual host.", valueName: "name"))
  var virtualHost = "/"

  @Option(help: ArgumentHelp("The user of RabbitMQ.", valueName: "name"))
  var engineUser = "guest"

  @Option(
    help: ArgumentHelp(
      "The file of the user's password, one line. Default: the password guest.",
      valueName: "file"))
  var enginePasswordFile: String?

  @Option(
    help: ArgumentHelp(
      "The authorities that sign the nodes' certificates, in PEM; TLS is then used.",
      valueName: "file"))
  var engineCA: String?

  @Option(help: ArgumentHelp("The certificate for the engine, in PEM.", valueName: "file"))
  var engineCertificate: String?

  @Option(help: ArgumentHelp("The key of the certificate, in PEM.", valueName: "file"))
  var engineKey: String?

  /// The configuration. A worker stores the states of its shards less often than each second, as
  /// they are large, and processes the reports since then again after a failure.
  func configuration(forWork: Bool = false) throws -> EngineConfiguration {
    let port: UInt16 = engineCA == nil ? 5672 : 5671
    var configuration = EngineConfiguration(
      nodes: try engine.split(separator: ",", omittingEmptySubsequences: false).map {
        try node(String($0), port: port)
      })
    if forWork {
      configuration.storeInterval = 10
      configuration.prefetch = 1000
    }
    configuration.virtualHost = virtualHost
    configuration.username = engineUser
    if let enginePasswordFile {
      configuration.password = try Files.firstLine(enginePasswordFile)
    }
    if let engineCA {
      var tls = EngineConfiguration.TLS(authorities: engineCA)
      tls.certificate = engineCertificate
      tls.key = engineKey
      configuration.tls = tls
    } else if engineCertificate != nil || engineKey != nil {
      throw ValidationError(
        "--engine-certificate and --engine-key need --engine-ca, the file of the authorities")
    }
    return configuration
  }

  private func node(_ text: String, port: UInt16) throws -> EngineConfiguration.Node {
    guard let address = BrokerAddress(argument: text) else {
      throw ValidationError(
        "--engine must name nodes such as rabbit.local or 10.0.0.5:5672, separated by commas; "
          + "'\(text)' is not one")
    }
    return EngineConfiguration.Node(host: address.host, port: address.port ?? port)
  }
}
