import AppDaemon
import ArgumentParser
import Frontends
import Records

struct AppsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apps",
    abstract: "Show the apps of the service: their permissions, and what they use.",
    usage: "beaconscan apps [<options>]\n       beaconscan apps revoke <app> [<options>]",
    discussion: """
      The service is beaconscan serve --apps. Root and the service's own user see all apps, and \
      other users their own. DECIDED BY is administrator (the file \
      /etc/corelocation/authorization.json), polkit, the user who answered, or nobody. SCAN is what \
      the app needs of the radio now, and EVENTS the number that it was sent since it started. See \
      docs/daemon.md.

      EXAMPLES
        beaconscan apps
        beaconscan apps --format json
        beaconscan apps revoke kiosk.service
      """, subcommands: [Revoke.self])

  @OptionGroup(title: "Input") var daemon: DaemonOption
  @OptionGroup(title: "Input") var configuration: ConfigurationOption
  @OptionGroup(title: "Output") var form: FormatOptions
  @OptionGroup(title: "Output") var clock: ZoneOption

  func run() throws {
    let reply = try DaemonConnection.answer(to: .apps, at: daemon.socket)
    guard case .apps(let apps) = reply else { throw CommandError(reply) }
    let out = StandardOutput()
    out.apply(form, clock.zone)
    if apps.isEmpty, form.format == .table {
      try out.write("no app has used the service\n")
    } else {
      try out.write(apps, AppReport.record, form.format)
    }
    try out.flush()
  }

  struct Revoke: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "revoke",
      abstract: "Forget what a person decided about an app, or deny it.",
      discussion: """
        The app's user is asked again when the app next requests permission. The administrator's \
        file and polkit come before a person's decision, and are not changed. It may be revoked by \
        programs of the app's user, by root, and by those to which polkit permits \
        org.beaconscan.manage.

        EXAMPLES
          beaconscan apps revoke kiosk.service
          beaconscan apps revoke kiosk.service --user root --deny
        """)

    @Argument(
      .text("app", "The app, as beaconscan apps lists it.", "app", valid: "write an app's name"))
    var app: String

    @Option(
      .text(
        "user", "The app's user, where several have it.", "name",
        valid: "write the name or the number of a user of this machine",
        isValid: { UserName.number(of: $0) != nil }))
    var user: String?

    @Flag(.flag("deny", "Deny the app, and do not ask again.")) var deny: Bool

    @OptionGroup(title: "Input") var daemon: DaemonOption
    @OptionGroup(title: "Input") var configuration: ConfigurationOption

    func run() throws {
      let message = ManagementMessage.revoke(
        app: app, user: user.flatMap(UserName.number), denying: deny)
      let reply = try DaemonConnection.answer(to: message, at: daemon.socket)
      guard case .done = reply else { throw CommandError(reply) }
    }
  }
}

extension CommandError {
  /// The error of an answer that was not expected.
  init(_ reply: ManagementReply) {
    if case .failed(let sentence) = reply {
      self.init(.noPermission, sentence)
    } else {
      self.init(
        .unavailable, "the service answers something else; install the same version of both")
    }
  }
}
