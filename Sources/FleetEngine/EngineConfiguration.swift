import Glibc

/// The engine's nodes, and how to use them.
package struct EngineConfiguration: Sendable, Equatable {
  package struct Node: Sendable, Hashable {
    package var host: String
    package var port: UInt16

    package init(host: String, port: UInt16) {
      self.host = host
      self.port = port
    }
  }

  package struct TLS: Sendable, Equatable {
    /// The PEM file of the authorities that sign the nodes' certificates.
    package var authorities: String
    package var certificate: String?
    package var key: String?

    package init(authorities: String) { self.authorities = authorities }
  }

  /// The nodes in the order in which they are tried.
  package var nodes: [Node]
  package var virtualHost = "/"
  package var username = "guest"
  package var password = "guest"
  package var tls: TLS?
  /// The seconds between two heartbeats, at least 1. A connection without traffic for two of them
  /// is dead.
  package var heartbeat = 10
  /// The seconds that a node may take to answer.
  package var answerTime = 10.0
  /// The seconds within which a node confirms what is published. After the failure of another node
  /// it may never confirm a message; the link then publishes again on a new connection.
  package var confirmTime = 5.0
  /// The seconds that a node needs at most, after it came back, for what the others have of a stream.
  package var copyTime = 30.0
  /// The seconds without a message after which a reader consumes a stream anew, and a worker a queue
  /// whose reports wait: the engine may have forgotten the consumer, and does not say so.
  package var silenceTime = 60.0
  /// The seconds within which a node stores what was declared: it answers before it does.
  package var declareTime = 3.0
  /// The shortest and longest pause between attempts to connect, in seconds.
  package var reconnectDelay: ClosedRange<Double> = 0.1...5
  /// The shards to work on; every shard of a fleet needs a worker.
  package var shards = Shard.all
  /// The unacknowledged reports that a worker holds of a shard.
  package var prefetch: UInt16 = 400
  /// The seconds after which new state of a shard is stored at the latest.
  package var storeInterval = 1.0
  /// The seconds that a worker waits for the state of a shard that has had a worker, if there is
  /// none: the engine gives back what that worker has taken when it finds the connection dead.
  package var registerWait = 60.0
  /// The seconds without reports after which a worker forgets a shard's state.
  package var idleTime = 3.0
  /// The seconds between two looks at the number of workers.
  package var balanceInterval = 5.0

  package init(nodes: [Node]) { self.nodes = nodes }
}

package struct EngineError: Error, Hashable, CustomStringConvertible {
  package var description: String
  /// Whether a queue or a binding is missing, so that all must be declared again.
  var isMissing = false
  /// Whether another connection has the queue alone.
  var isLocked = false

  init(_ description: String, isMissing: Bool = false, isLocked: Bool = false) {
    self.description = description
    self.isMissing = isMissing
    self.isLocked = isLocked
  }
}

extension EngineConfiguration {
  func check() throws(EngineError) {
    guard !nodes.isEmpty else {
      throw EngineError("the fleet's engine has no node; give one such as rabbit.local:5672")
    }
    for node in nodes {
      guard !node.host.isEmpty, node.host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
        throw EngineError("'\(node.host)' is not a host's name; give one such as rabbit.local")
      }
      guard node.port != 0 else {
        throw EngineError("the port of \(node.host) is 0; give one from 1 to 65535, such as 5672")
      }
    }
    for (text, what) in [
      (virtualHost, "virtual host"), (username, "user name"), (password, "password"),
    ] {
      guard text.utf8.count <= 255, !text.utf8.contains(0) else {
        throw EngineError("the engine's \(what) cannot be sent; give at most 255 bytes without 0")
      }
    }
    guard (1...600).contains(heartbeat), answerTime > 0, confirmTime > 0,
      silenceTime > 0, reconnectDelay.lowerBound > 0
    else {
      throw EngineError("the engine's heartbeat is \(heartbeat) s; give 1 s to 600 s")
    }
    guard prefetch > 1, storeInterval > 0, balanceInterval > 0 else {
      throw EngineError("a worker needs at least 2 reports at a time, and intervals above 0 s")
    }
    if let tls {
      guard (tls.certificate == nil) == (tls.key == nil) else {
        throw EngineError("the engine's TLS needs the client's certificate and key, or neither")
      }
      for file in [tls.authorities, tls.certificate, tls.key].compactMap({ $0 }) {
        guard !file.utf8.contains(0), unsafe access(file, R_OK) == 0 else {
          let reason = unsafe String(cString: strerror(errno))
          throw EngineError("\(file): cannot be read for TLS (\(reason)); give a PEM file")
        }
      }
    }
  }
}

extension EngineConfiguration.Node: CustomStringConvertible {
  package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
