import Bytes
import HCIPackets

/// A channel to one adapter's controller: sends one command at a time and waits for the answer.
///
/// The kernel delivers only the awaited answer to its socket, so received adverts do not wake it.
/// Another program's command with the same opcode may be answered first.
struct CommandChannel: ~Copyable {
  let adapter: UInt16
  private let socket: HCISocket
  var descriptor: Int32 { socket.descriptor }

  /// The time limit for an answer. The kernel waits 2 s for that to any program's earlier command.
  static var answerLimit: Duration { .seconds(3) }

  /// Opens a channel; throws `EAFNOSUPPORT` without Bluetooth and `ENODEV` without the adapter.
  init(adapter: UInt16) throws(CommandFailure) {
    self.adapter = adapter
    do throws(HCISocketError) {
      socket = try HCISocket.bound(to: adapter)
    } catch {
      throw .socket(error)
    }
  }

  /// Sends a command, waits for Command Complete or Command Status, and returns the data after it.
  @discardableResult
  func send(_ command: HCICommand, within limit: Duration = answerLimit)
    throws(CommandFailure) -> [UInt8]
  {
    let answer: (status: UInt8, parameters: [UInt8])?
    do throws(HCISocketError) {
      answer = try self.answer(to: command, within: limit)
    } catch {
      throw .socket(error)
    }
    guard let answer else {
      throw .unanswered(command.opcode, after: limit, adapter: "hci\(adapter)")
    }
    guard answer.status == 0 else {
      throw .refused(command.opcode, status: answer.status, adapter: "hci\(adapter)")
    }
    return answer.parameters
  }

  func ask<Value>(
    _ opcode: Opcode, _ read: (RawSpan) throws(ParseError) -> Value
  ) throws(CommandFailure) -> Value {
    let bytes = try send(HCICommand(opcode))
    do {
      // The array outlives the call.
      return unsafe try read(bytes.span.bytes)
    } catch {
      throw .cutShort(opcode, adapter: "hci\(adapter)")
    }
  }

  private func answer(to command: HCICommand, within limit: Duration) throws(HCISocketError)
    -> (status: UInt8, parameters: [UInt8])?
  {
    try socket.filter(events: [0x0E, 0x0F], opcode: command.opcode)
    // An event has at most 255 bytes after its type, code and length.
    var bytes = [UInt8](repeating: 0, count: 258)
    // Discards late answers to an earlier command.
    while try socket.read(into: &bytes) != nil {}
    try socket.send(command)
    let deadline = ContinuousClock.now + limit
    while case let left = deadline - .now, left > .zero {
      let milliseconds = min(max(left / .milliseconds(1), 1), 60_000).rounded(.up)
      try socket.wait(milliseconds: Int32(milliseconds))
      guard let count = try socket.read(into: &bytes), count > 1, bytes[0] == 0x04 else { continue }
      // The array outlives the span.
      let packet = unsafe bytes.span.bytes.extracting(first: count)
      guard let result = CommandResult(packet, at: 1), result.opcode == command.opcode else {
        continue
      }
      return (result.status, result.parameters.array)
    }
    return nil
  }
}
