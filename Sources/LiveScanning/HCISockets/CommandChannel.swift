import Bytes
import HCIPackets

/// Sends commands to one adapter's controller, one after the other, and waits for each answer.
///
/// It has a socket of its own, in which the kernel puts nothing but the answer that is waited for: what a scan
/// receives meanwhile does not wake it. Commands of other programs go to the same controller; the kernel sends them
/// in turn, and a command of another program with the same opcode may be answered first.
struct CommandChannel: ~Copyable {
  let adapter: UInt16
  private let socket: HCISocket
  /// The number of its socket in this process.
  var descriptor: Int32 { socket.descriptor }

  /// How long an answer may take. The kernel itself waits for 2 s before it sends the next command of any program,
  /// so that a command of ours can wait for that long behind one that is never answered.
  static var answerLimit: Duration { .seconds(3) }

  /// Opens a channel; throws `EAFNOSUPPORT` where there is no Bluetooth, `ENODEV` where the adapter is not there. That it
  /// is off shows when a command is sent.
  init(adapter: UInt16) throws(HCISocketError) {
    self.adapter = adapter
    socket = try HCISocket.bound(to: adapter)
  }

  /// Sends a command, waits for Command Complete or Command Status, and returns what follows the status.
  @discardableResult
  func send(_ command: HCICommand, within limit: Duration = answerLimit)
    throws(CommandFailure) -> [UInt8]
  {
    do throws(HCISocketError) {
      try socket.filter(events: [0x0E, 0x0F], opcode: command.opcode)
      // Answers that came too late for an earlier command.
      var bytes = [UInt8](repeating: 0, count: 258)
      while try socket.read(into: &bytes) != nil {}
      try socket.send(command)
    } catch {
      throw .socket(error)
    }
    let deadline = ContinuousClock.now + limit
    while true {
      let left = deadline - .now
      guard left > .zero else { break }
      let answer: (status: UInt8, parameters: [UInt8])?
      do throws(HCISocketError) {
        let milliseconds = min(max(left / .milliseconds(1), 1), 60_000).rounded(.up)
        try socket.wait(milliseconds: Int32(milliseconds))
        answer = try receive(command.opcode)
      } catch {
        throw .socket(error)
      }
      guard let answer else { continue }
      guard answer.status == 0 else {
        throw .refused(command.opcode, status: answer.status, adapter: "hci\(adapter)")
      }
      return answer.parameters
    }
    throw .unanswered(command.opcode, after: limit, adapter: "hci\(adapter)")
  }

  /// Sends a command that asks for something, and reads the answer.
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

  /// Reads one packet: the answer to a command; `nil` where it is none, or nothing is there.
  private func receive(_ opcode: Opcode) throws(HCISocketError)
    -> (status: UInt8, parameters: [UInt8])?
  {
    // An event has 255 bytes behind its type, code and length.
    var bytes = [UInt8](repeating: 0, count: 258)
    guard let count = try socket.read(into: &bytes), count > 1, bytes[0] == 0x04
    else { return nil }
    // The array outlives the span.
    let packet = unsafe bytes.span.bytes.extracting(first: count)
    guard let result = CommandResult(packet, at: 1), result.opcode == opcode else { return nil }
    let parameters = result.parameters
    return (
      result.status,
      (0..<parameters.byteCount).map { parameters.littleEndian(UInt8.self, at: $0) }
    )
  }
}

extension Adapter {
  func channel() throws(CommandFailure) -> CommandChannel {
    do throws(HCISocketError) {
      return try CommandChannel(adapter: index)
    } catch {
      throw .socket(error)
    }
  }
}
