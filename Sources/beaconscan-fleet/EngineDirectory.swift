import Glibc

/// The directory of a node of RabbitMQ that belongs to a fleet on one machine.
struct EngineDirectory {
  let path: String
  /// The port for workers. The two after it are Erlang's.
  let port: UInt16

  init(_ path: String, port: UInt16) {
    self.path = path
    self.port = port
  }

  /// Reads the port from the configuration that ``EngineNode`` wrote.
  init(ofFleet fleet: String) throws {
    path = "\(try Files.whole(fleet))/engine"
    guard
      let line = try Files.lines("\(path)/rabbitmq.conf").first,
      let text = String(decoding: line, as: UTF8.self).split(separator: ":").last,
      let port = UInt16(text), (1...65_533).contains(port)
    else { throw FleetError(.badData, "\(path)/rabbitmq.conf does not begin with the node's port") }
    self.port = port
  }

  /// The variables of the node, and of the programs that manage it.
  var environment: [String] {
    [
      "PATH=/usr/lib/rabbitmq/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
      "HOME=\(path)", "ERL_CRASH_DUMP=\(path)/crash", "ERL_EPMD_PORT=\(port + 1)",
      "RABBITMQ_NODENAME=fleet@localhost",
      "RABBITMQ_NODE_PORT=\(port)", "RABBITMQ_DIST_PORT=\(port + 2)",
      "RABBITMQ_CONFIG_FILE=\(path)/rabbitmq.conf", "RABBITMQ_MNESIA_BASE=\(path)/data",
      "RABBITMQ_LOG_BASE=\(path)/log", "RABBITMQ_PID_FILE=\(path)/pid",
      "RABBITMQ_ENABLED_PLUGINS_FILE=\(path)/plugins",
      // The threads do not wait actively for work.
      "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+sbwt none +sbwtdcpu none +sbwtdio none "
        + "-kernel inet_dist_use_interface {127,0,0,1}",
      // The script becomes the node, in place of its parent.
      "RUNNING_UNDER_SYSTEMD=true",
    ]
  }
}
