import AppDaemon
import ArgumentParser
import FoundationEssentials
import Frontends
import Glibc

struct SessionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "session",
    abstract: "Start this user's apps for the events that wait for them.",
    discussion: """
      The service, beaconscan serve --apps, starts units of the system by itself. Other apps run in \
      their user's session, where this program starts them: a unit of the user, a Flatpak or an app \
      with a bus name by its name, and another program with the arguments that it had. The \
      program's environment then has BEACONSCAN_LAUNCH=region. The user's unit beaconscan-session \
      runs it in each session. See docs/daemon.md.

      EXAMPLES
        beaconscan session
        beaconscan session --socket /run/beaconscan/apps.sock
      """)

  @OptionGroup(title: "Input") var daemon: DaemonOption
  @OptionGroup(title: "Input") var configuration: ConfigurationOption
  @Flag(Inputs.quiet.rare) var quiet: Bool

  /// The milliseconds between two attempts to connect.
  private static let pause: Int32 = 1000

  func run() throws {
    let launcher = SessionLauncher(bus: try SessionBus.address(), process: getpid())
    var connection: DaemonConnection?
    var isWaiting = false
    while !Interrupt.isRequested {
      if connection == nil {
        connection = try? DaemonConnection(daemon.socket)
        connection?.send(.session)
        if connection == nil, !isWaiting { report("no service for apps answers; waiting for it") }
        isWaiting = connection == nil
      }
      if wait(for: connection) { connection?.read() }
      while let reply = try connection?.next() {
        switch reply {
        case .done: report("waiting for apps to start, at \(connection?.path ?? "")")
        case .launch(let order):
          let failure = launcher.start(order, for: connection?.path ?? "")
          report(failure.map { "cannot start \(order.app): \($0)" } ?? "starts \(order.app)")
          connection?.send(.launched(order: order.id, failure: failure))
        case .failed, .apps, .consent: throw CommandError(reply)
        }
      }
      if connection?.input.isOver == true {
        connection?.close()
        connection = nil
      }
    }
  }

  /// Waits for a message of the service, or for an interrupt. Returns whether there is a message.
  private func wait(for connection: DaemonConnection?) -> Bool {
    var entries = [
      pollfd(fd: Interrupt.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: connection?.input.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    // The array outlives the call.
    _ = unsafe poll(&entries, 2, connection == nil ? Self.pause : -1)
    return entries[1].revents != 0
  }

  private func report(_ sentence: String) {
    if !quiet { printError("beaconscan: \(sentence)") }
  }
}
