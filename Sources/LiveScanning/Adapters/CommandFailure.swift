import Bytes
package import HCIPackets

package enum CommandFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// A system call failed: `ENETDOWN` if the adapter is off, `EPERM` without `CAP_NET_RAW`, `EPIPE`
  /// and `ENODEV` if the adapter is gone.
  case socket(HCISocketError)
  case refused(Opcode, status: UInt8, adapter: String)
  case unanswered(Opcode, after: Duration, adapter: String)
  case cutShort(Opcode, adapter: String)

  package var description: String {
    switch self {
    case .socket(let error): "\(error)"
    case .refused(let opcode, let status, let adapter):
      "\(adapter): command \(hex(opcode)) was refused: \(Self.meaning(of: status))"
    case .unanswered(let opcode, let limit, let adapter):
      "\(adapter): the controller did not answer command \(hex(opcode)) within "
        + "\(Int(limit / .milliseconds(1))) ms"
    case .cutShort(let opcode, let adapter):
      "\(adapter): the answer to command \(hex(opcode)) is cut short"
    }
  }

  private func hex(_ opcode: Opcode) -> String { "0x\(opcode.rawValue.hexadecimal)" }

  private static func meaning(of status: UInt8) -> String {
    meanings[status].map { "\($0) (0x\(status.hexadecimal))" }
      ?? "error 0x" + String(status, radix: 16, uppercase: true)
  }

  private static let meanings: [UInt8: String] = [
    0x01: "unknown command", 0x03: "hardware failure", 0x07: "memory capacity exceeded",
    0x0C: "command disallowed", 0x11: "unsupported feature or parameter value",
    0x12: "invalid parameters", 0x42: "unknown advertising identifier",
  ]
}
