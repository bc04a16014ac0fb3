import ArgumentParser
import FleetEngine
import FleetReports
import FoundationEssentials
import Glibc
import SystemPackage

/// Manages the accounts with which receivers report to RabbitMQ.
struct ReceiversCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "receivers",
    abstract: "The accounts with which receivers report to RabbitMQ.",
    discussion: """
      A receiver's account has the right to write the topic of its own reports, and no other one. A \
      second user, NAME/configuration with the same password, has the right to read the topic of \
      its own configuration, and no other one. beaconscan uses both. \
      With --directory the accounts are those of the fleet that beaconscan-fleet up runs there; \
      otherwise they are those of the node of this machine's system, which needs root.

      EXAMPLES
        beaconscan-fleet receivers add museum hall-1 hall-2 --directory fleet
        beaconscan-fleet receivers add museum hall-1 --password-file hall-1.password
        beaconscan-fleet receivers add museum --site-broker
        beaconscan-fleet receivers remove museum hall-1 --directory fleet
        beaconscan-fleet receivers list --directory fleet
      """,
    subcommands: [Add.self, Remove.self, List.self])

  struct Add: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Makes accounts, and prints the user and the password of each.",
      discussion: """
        A receiver that has an account gets a new password, which its next connection needs. The \
        accounts are changed by one command of RabbitMQ, however many there are.
        """)

    @OptionGroup var names: ReceiverNames
    @OptionGroup var control: ControlOptions

    @Option(help: ArgumentHelp("The virtual host of the fleet.", valueName: "name"))
    var virtualHost = "/"

    @Option(
      help: ArgumentHelp(
        "A new file for the password, which only its owner can read, in place of printing it.",
        valueName: "file"))
    var passwordFile: String?

    func validate() throws {
      guard passwordFile == nil || names.accounts.count == 1 else {
        throw ValidationError("--password-file is for one receiver; name one")
      }
    }

    func run() throws {
      let accounts = names.accounts.map {
        ReceiverAccount(site: names.site, receiver: $0, virtualHost: virtualHost)
      }
      if let passwordFile {
        try Files.makeSecret(Array("\(accounts[0].password)\n".utf8), at: passwordFile)
      }
      do {
        try control.run(["import_definitions"], input: ReceiverAccount.definitions(of: accounts))
      } catch {
        if let passwordFile { _ = unsafe unlink(passwordFile) }
        throw error
      }
      for account in accounts {
        print(passwordFile == nil ? "\(account.user) \(account.password)" : account.user)
      }
    }
  }

  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Removes accounts, and ends the connections of their receivers.")

    @OptionGroup var names: ReceiverNames
    @OptionGroup var control: ControlOptions

    func run() throws {
      for receiver in names.accounts {
        let user = FleetAccount.user(ofSite: names.site, receiver: receiver)
        // An account of an earlier version has no such user.
        _ = try? control.run(["delete_user", FleetAccount.configurationUser(of: user)])
        try control.run(["delete_user", user])
      }
    }
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Prints the site and the name of each receiver that has an account.",
      discussion: "A site without a name of a receiver is the account of that site's broker.")

    @OptionGroup var control: ControlOptions

    func run() throws {
      let users = try control.run(["list_users", "--no-table-headers"])
      for line in users.split(separator: "\n").sorted() {
        let columns = line.split(separator: "\t")
        guard columns.count == 2, columns[1] == "[\(ReceiverAccount.tag)]" else { continue }
        print(columns[0].replacing(".", with: " "))
      }
    }
  }
}

/// A site and receivers of it.
struct ReceiverNames: ParsableArguments {
  @Argument(help: "The name of the site.")
  var site: String

  @Argument(help: ArgumentHelp("The names of receivers.", valueName: "receiver"))
  var receivers: [String] = []

  @Flag(help: "The account of the site's own broker, which sends on what its receivers report.")
  var siteBroker = false

  /// The receivers, with `nil` for the site's broker.
  var accounts: [String?] { receivers + (siteBroker ? [nil] : []) }

  func validate() throws {
    guard !accounts.isEmpty else {
      throw ValidationError("name at least one receiver of the site, or give --site-broker")
    }
    for name in [site] + receivers where !FleetTopic.isName(name) {
      throw ValidationError(
        "a name has 1 to \(FleetTopic.maximumNameLength) ASCII letters, digits, '_' and '-'; "
          + "'\(name)' is not one")
    }
  }
}

/// The node of RabbitMQ whose accounts are managed.
struct ControlOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The directory of a fleet that up runs. Default: the node of the system.",
      valueName: "directory"))
  var directory: String?

  /// Runs `rabbitmqctl`, and returns its output.
  @discardableResult
  func run(_ arguments: [String], input: [UInt8] = []) throws -> String {
    let program: String
    let environment: [String]
    let start: String
    if let directory {
      program = "/usr/lib/rabbitmq/bin/rabbitmqctl"
      environment = try EngineDirectory(ofFleet: directory).environment
      start = "beaconscan-fleet up \(directory)"
    } else {
      let isOwner = unsafe getpwnam("rabbitmq").map { unsafe $0.pointee.pw_uid == geteuid() }
      guard geteuid() == 0 || isOwner == true else {
        throw FleetError(
          .noPermission,
          "only root and the user rabbitmq can manage the accounts of the system's RabbitMQ; use "
            + "sudo, or name the directory of a fleet that up runs with --directory")
      }
      program = "/usr/sbin/rabbitmqctl"
      environment = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"]
      start = "systemctl start rabbitmq-server"
    }
    let result = try ChildProcess.run(
      [program, "--quiet"] + arguments, environment: environment, input: input)
    guard result.status != EX_UNAVAILABLE else {
      throw FleetError(.unavailable, "RabbitMQ does not answer; start it with: \(start)")
    }
    guard result.status == 0 else {
      let lines = result.output.split(separator: "\n").prefix(3)
      throw FleetError(.unavailable, "RabbitMQ refuses: \(lines.joined(separator: " "))")
    }
    return result.output
  }
}

/// The account of a receiver, or of the broker of a site, with a random password.
///
/// It has two users. One that may write `amq.topic` and make a queue, as a subscription does, could
/// make an exchange of that queue's name over AMQP, bind `amq.topic` to it, and publish for others.
struct ReceiverAccount {
  /// The tags of its users. They give no rights.
  static let tag = "receiver"
  private static let configurationTag = "receiver-configuration"

  let user: String
  /// 24 letters and digits, 142 random bits.
  let password: String
  private let site: String
  private let receiver: String?
  private let virtualHost: String

  init(site: String, receiver: String?, virtualHost: String) {
    user = FleetAccount.user(ofSite: site, receiver: receiver)
    let characters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    password = String((0..<24).compactMap { _ in characters.randomElement() })
    (self.site, self.receiver) = (site, receiver)
    self.virtualHost = virtualHost
  }

  /// The pattern of a topic of the receiver or of all receivers of the site, as RabbitMQ reads it.
  private func pattern(_ topic: (_ site: String, _ receiver: String) -> String) -> String {
    let key = FleetTopic.routingKey(of: topic(site, receiver ?? "+")).replacing(".", with: "\\.")
    return "^\(key.replacing("+", with: "[^.]+"))$"
  }

  /// The queue that RabbitMQ makes for the subscription. It has the name of the client, so another
  /// receiver's cannot be read.
  private var queue: String {
    "mqtt-subscription-\(FleetAccount.configurationClient(ofSite: site, receiver: receiver))qos1"
  }

  /// Returns accounts as RabbitMQ reads them, with the password, which thus is on no command line.
  static func definitions(of accounts: [ReceiverAccount]) throws -> [UInt8] {
    var definitions = Definitions()
    for account in accounts {
      let (reports, host) = (account.user, account.virtualHost)
      let configuration = FleetAccount.configurationUser(of: reports)
      let queue = "^\(account.queue)$"
      definitions.users += [(reports, tag), (configuration, configurationTag)].map {
        .init(name: $0, password: account.password, tags: $1)
      }
      definitions.permissions += [
        .init(user: reports, vhost: host, configure: "^$", write: "^amq\\.topic$", read: "^$"),
        .init(
          user: configuration, vhost: host, configure: queue, write: queue,
          read: "^(amq\\.topic|\(account.queue))$"),
      ]
      definitions.topics += [
        .init(
          user: reports, vhost: host,
          write: account.pattern(FleetTopic.reports(ofSite:receiver:)), read: "^$"),
        .init(
          user: configuration, vhost: host, write: "^$",
          read: account.pattern(FleetTopic.configuration(ofSite:receiver:))),
      ]
    }
    return Array(try JSONEncoder().encode(definitions))
  }

  /// A part of a cluster's definitions.
  private struct Definitions: Encodable {
    struct User: Encodable {
      var name: String
      var password: String
      var tags: String
      // A connection that the receiver does not know to be lost counts until it is noticed.
      var limits = ["max-connections": 4, "max-channels": 8]
    }

    struct Permission: Encodable {
      var user: String
      var vhost: String
      var configure: String
      var write: String
      var read: String
    }

    struct TopicPermission: Encodable {
      var user: String
      var vhost: String
      var exchange = "amq.topic"
      var write: String
      var read: String
    }

    enum CodingKeys: String, CodingKey {
      case users, permissions
      case topics = "topic_permissions"
    }

    var users: [User] = []
    var permissions: [Permission] = []
    var topics: [TopicPermission] = []
  }
}
