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
      A receiver's account has the right to write the topic of its own reports, to read that of its \
      own configuration, and no other one. \
      With --directory the accounts are those of the fleet that beaconscan-fleet up runs there; \
      otherwise they are those of the node of this machine's system, which needs root.

      EXAMPLES
        beaconscan-fleet receivers add museum hall-1 hall-2 --directory fleet
        beaconscan-fleet receivers add museum hall-1 --password-file hall-1.password
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
      guard passwordFile == nil || names.receivers.count == 1 else {
        throw ValidationError("--password-file is for one receiver; name one")
      }
    }

    func run() throws {
      let accounts = names.receivers.map {
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
      for receiver in names.receivers {
        try control.run(["delete_user", ReceiverAccount.user(site: names.site, receiver: receiver)])
      }
    }
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Prints the site and the name of each receiver that has an account.")

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
  var receivers: [String]

  func validate() throws {
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

/// The account of a receiver, with a random password.
struct ReceiverAccount {
  /// The tag of receivers' users. It gives no rights.
  static let tag = "receiver"

  /// Returns the name of the user, which is unambiguous, because names have no dots.
  static func user(site: String, receiver: String) -> String { "\(site).\(receiver)" }

  let user: String
  /// 24 letters and digits, 142 random bits.
  let password: String
  private let site: String
  private let receiver: String
  private let virtualHost: String

  init(site: String, receiver: String, virtualHost: String) {
    user = Self.user(site: site, receiver: receiver)
    let characters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    password = String((0..<24).compactMap { _ in characters.randomElement() })
    (self.site, self.receiver) = (site, receiver)
    self.virtualHost = virtualHost
  }

  /// The pattern of a topic alone, as RabbitMQ reads it.
  private static func pattern(_ topic: String) -> String {
    "^\(FleetTopic.routingKey(of: topic).replacing(".", with: "\\."))$"
  }

  /// The queue that RabbitMQ makes for the receiver's subscription, and the exchange of MQTT. The
  /// queue has the name of the client, so another receiver's cannot be read.
  private var queue: String { "mqtt-subscription-beaconscan-fleet/\(site)/\(receiver)qos1" }

  /// Returns accounts as RabbitMQ reads them, with the password, which thus is on no command line.
  static func definitions(of accounts: [ReceiverAccount]) throws -> [UInt8] {
    Array(
      try JSONEncoder().encode(
        Definitions(
          users: accounts.map {
            .init(
              name: $0.user, password: $0.password, tags: tag,
              // A connection that the receiver does not know to be lost counts until it is noticed.
              limits: ["max-connections": 4, "max-channels": 8])
          },
          permissions: accounts.map {
            let both = "^(amq\\.topic|\($0.queue))$"
            return .init(
              user: $0.user, vhost: $0.virtualHost, configure: "^\($0.queue)$", write: both,
              read: both)
          },
          topics: accounts.map {
            .init(
              user: $0.user, vhost: $0.virtualHost,
              write: pattern(FleetTopic.reports(ofSite: $0.site, receiver: $0.receiver)),
              read: pattern(FleetTopic.configuration(ofSite: $0.site, receiver: $0.receiver)))
          })))
  }

  /// A part of a cluster's definitions.
  private struct Definitions: Encodable {
    struct User: Encodable {
      var name: String
      var password: String
      var tags: String
      var limits: [String: Int]
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

    var users: [User]
    var permissions: [Permission]
    var topics: [TopicPermission]
  }
}
