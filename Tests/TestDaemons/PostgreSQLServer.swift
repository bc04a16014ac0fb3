import Foundation
import TestSupport
package import Testing

extension Trait where Self == ConditionTrait {
  /// Tests that need a database are skipped where no server is installed.
  package static var postgresql: Self {
    .enabled(
      if: PostgreSQLServer.programs != nil,
      "postgresql is missing; install it: Scripts/setup.sh --ci")
  }
}

/// A PostgreSQL server on a Unix socket in a folder of its own, which ends with its value.
package final class PostgreSQLServer {
  /// libpq's connection string of its database.
  package let connection: String
  private let folder: URL
  private var server: Daemon?

  /// The folder of the newest version's programs.
  fileprivate static let programs: String? = {
    let folder = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return versions.compactMap { Int($0) }.sorted().map { "\(folder)/\($0)/bin" }
      .last { FileManager.default.isExecutableFile(atPath: "\($0)/initdb") }
  }()

  /// The server refuses to run as root, so it then runs as the user of Debian's package.
  private static let prefix =
    geteuid() == 0
    ? ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"] : []

  /// An empty database, which each server gets a copy of.
  private static let template = Result {
    let scratch = try Scratch()
    try scratch.makeFolder("data")
    if geteuid() == 0 { try runTool(["/bin/chown", "postgres:postgres", scratch["data"]]) }
    try runTool(
      prefix + [
        "\(programs ?? "")/initdb", "-D", scratch["data"], "-U", "tester", "-A", "trust", "-N",
        "-E",
        "UTF8", "--locale=C.UTF-8",
      ])
    return scratch
  }

  /// Starts a server with an empty database, and waits until it accepts connections.
  package init() throws {
    // A socket's path has at most 107 bytes.
    folder = URL(filePath: "/tmp/beaconscan-pg-\(UUID().uuidString.prefix(8))")
    connection = "postgresql:///postgres?host=\(folder.path)&user=tester"
    try runTool(["/bin/cp", "-a", try Self.template.get()["data"], folder.path])
    try start()
  }

  deinit {
    // Without a wait for its clients.
    server?.end(by: SIGQUIT)
    try? FileManager.default.removeItem(at: folder)
  }

  private struct NoServer: Error, CustomStringConvertible {
    let log: String
    var description: String { "postgres did not start: \(log)" }
  }

  /// Starts it again with its data.
  package func start() throws {
    let log = folder.appending(path: "log").path
    let server = try Daemon(
      Self.prefix + [
        "\(Self.programs ?? "")/postgres", "-D", folder.path, "-k", folder.path, "-c",
        "listen_addresses=", "-c", "shared_buffers=16MB", "-c", "max_connections=20", "-c",
        "fsync=off",
      ], log: log)
    self.server = server
    func text() -> String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }
    let hasStarted = eventually {
      text().contains("ready to accept connections") || !server.isRunning
    }
    guard hasStarted, server.isRunning else { throw NoServer(log: text()) }
  }

  /// Kills all of its processes, as the kernel does.
  package func kill() { server?.kill() }
  /// Stops all of its processes until ``resume()``: connections are accepted, and not answered.
  package func pause() {
    server?.pause()
    for child in server?.children ?? [] { Foundation.kill(child, SIGSTOP) }
  }

  package func resume() {
    for child in server?.children ?? [] { Foundation.kill(child, SIGCONT) }
    server?.resume()
  }

  /// Runs statements by a client of another make, and returns the rows.
  @discardableResult package func run(_ statements: String) throws -> String {
    try runTool(["/usr/bin/psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", statements, connection])
      .trimmingCharacters(in: .newlines)
  }
}
