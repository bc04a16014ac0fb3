import Glibc
import HCIPackets
import Scanning

/// An advert on air, and a socket that shows when another program takes it down.
struct AdvertOnAir: ~Copyable {
  enum Loss: Hashable, Sendable {
    case adapter(ScannerHealth.Condition)
    case reset
    case takenOver
  }

  private let channel: CommandChannel
  private let socket: HCISocket
  private let commandSet: AdvertisingCommandSet

  var isExtended: Bool { commandSet != .legacy }

  /// The number of advertising sets to try, because other programs may use some.
  private static var maximumSets: UInt8 { 4 }

  init(_ adapter: Adapter, _ parameters: AdvertisingParameters, _ data: [UInt8])
    throws(AdvertisingFailure)
  {
    guard adapter.supportsLE else { throw .noLowEnergy(adapter.name) }
    let channel = try Self.attempt(CommandChannel(adapter: adapter.index))
    let supported = try Self.attempt(channel.send(HCICommand(.readLocalSupportedCommands)))
    let socket = try Self.attempt(Self.listener(adapter))
    // If no other process has a socket, an advert that runs was left by a killed process.
    let isAlone = HCIPrograms.hasOnly(
      [channel.descriptor, socket.descriptor], in: HCISystem.host.socketList())
    commandSet = try Self.putOnAir(
      channel, adapter, supported, parameters, data, takingDownOthers: isAlone)
    self.channel = channel
    self.socket = socket
    // Discards this process's own commands.
    _ = firstLoss()
  }

  private static func attempt<Value: ~Copyable>(
    _ body: @autoclosure () throws(CommandFailure) -> Value
  ) throws(AdvertisingFailure) -> Value {
    do throws(CommandFailure) {
      return try body()
    } catch {
      throw AdvertisingFailure(error)
    }
  }

  private static func listener(_ adapter: Adapter) throws(CommandFailure) -> HCISocket {
    do throws(HCISocketError) {
      let socket = try HCISocket.bound(to: adapter.index)
      try socket.filter(events: [Int32(hardwareError)], commands: true)
      return socket
    } catch {
      throw .socket(error)
    }
  }

  /// Tries sets until one is free. If no other program is there, takes down an advert in the first.
  private static func putOnAir(
    _ channel: borrowing CommandChannel, _ adapter: Adapter, _ supported: [UInt8],
    _ parameters: AdvertisingParameters, _ data: [UInt8], takingDownOthers isAlone: Bool
  ) throws(AdvertisingFailure) -> AdvertisingCommandSet {
    var latest = AdvertisingFailure.busy(adapter.name)
    for number in 0..<maximumSets {
      let set = AdvertisingCommandSet(
        supportedCommands: supported, handle: AdvertisingCommandSet.highestHandle - number)
      guard let commands = set.start(parameters, data: data) else {
        throw .noExtended(adapter.name)
      }
      do throws(CommandFailure) {
        do throws(CommandFailure) {
          try channel.send(commands[0])
        } catch .refused(_, CommandResult.commandDisallowed, _) where isAlone {
          for command in set.stop { _ = try? channel.send(command) }
          try channel.send(commands[0])
        }
        for command in commands.dropFirst() { try channel.send(command) }
        return set
      } catch {
        latest = AdvertisingFailure(error)
        if case .refused(let opcode, CommandResult.commandDisallowed, _) = error,
          opcode == commands[0].opcode, set != .legacy
        {
          continue
        }
        // A controller must not keep an advert that it accepted only in part.
        if case .refused(let opcode, _, _) = error, opcode != commands[0].opcode {
          for command in set.stop { _ = try? channel.send(command, within: .seconds(1)) }
        }
        throw latest
      }
    }
    throw latest
  }

  borrowing func takeDown() {
    for command in commandSet.stop {
      do throws(CommandFailure) {
        try channel.send(command, within: .seconds(1))
      } catch {
        guard case .refused = error else { return }
      }
    }
  }

  borrowing func wait(_ milliseconds: Int32) -> Loss? {
    try? socket.wait(milliseconds: milliseconds)
    if let loss = firstLoss() { return loss }
    // A query that fails, for example with too many open files, shows nothing of the adapter.
    let found: Adapter?
    do throws(HCISocketError) {
      found = try HCISocket.adapter(at: channel.adapter, through: socket.descriptor)
    } catch {
      return nil
    }
    guard let adapter = found else { return .adapter(.removed) }
    return adapter.isUp ? nil : .adapter(adapter.offCondition)
  }

  /// Reads the pending packets. The first loss is the cause: the kernel resets a failed controller.
  private borrowing func firstLoss() -> Loss? {
    var loss: Loss?
    var bytes = [UInt8](repeating: 0, count: 260)
    do throws(HCISocketError) {
      while let count = try socket.read(into: &bytes), count > 0 {
        loss = loss ?? Self.loss(by: bytes[..<count], commandSet)
      }
    } catch {
      return .adapter(.removed)
    }
    return loss
  }

  private static var hardwareError: UInt8 { 0x10 }

  /// Returns the loss that a packet of another program or of the controller causes.
  static func loss(by packet: ArraySlice<UInt8>, _ set: AdvertisingCommandSet) -> Loss? {
    let bytes = Array(packet)
    if bytes.starts(with: [0x04, hardwareError]) { return .adapter(.hardwareError) }
    // The array outlives the span.
    guard bytes.first == 0x01, let command = unsafe try? HCICommand(bytes.span.bytes, at: 1) else {
      return nil
    }
    let parameters = command.parameters
    switch (command.opcode, set) {
    case (.reset, _): return .reset
    case (.setAdvertisingEnable, .legacy): return parameters.first == 0 ? .takenOver : nil
    case (.setAdvertisingData, .legacy): return .takenOver
    case (.setExtendedAdvertisingEnable, .extended(let handle)):
      guard parameters.count >= 2, parameters[0] == 0 else { return nil }
      // No named set means every set; each named set has four bytes.
      let named = stride(from: 2, to: parameters.count, by: 4).map { parameters[$0] }
      return parameters[1] == 0 || named.contains(handle) ? .takenOver : nil
    case (.setExtendedAdvertisingData, .extended(let handle)),
      (.removeAdvertisingSet, .extended(let handle)):
      return parameters.first == handle ? .takenOver : nil
    case (.clearAdvertisingSets, .extended): return .takenOver
    default: return nil
    }
  }
}

extension AdvertOnAir.Loss {
  func sentence(_ adapter: String) -> String {
    switch self {
    case .adapter(let condition): HealthSentence.of(condition, adapter: adapter)
    case .reset: "the controller of \(adapter) was reset, which ended the advert"
    case .takenOver: "another program ended the advert of \(adapter)"
    }
  }
}
