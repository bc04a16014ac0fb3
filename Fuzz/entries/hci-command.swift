// What a host and a controller say to each other beside adverts: commands of other programs, Command
// Complete and Command Status, and what some of them return. Input: one packet.

import Bytes
import HCIPackets

func check(_ bytes: [UInt8]) {
  // A command reads as its own bytes say, and writes the bytes that it was read from.
  if let command = unsafe try? HCICommand(bytes.span.bytes) {
    let length = 3 + Int(bytes[2])
    require(command.packet == [0x01] + bytes.prefix(length), "written otherwise than read")
    require(bytes.count >= length, "read past the end")
  } else {
    require(bytes.count < 3 || bytes.count < 3 + Int(bytes[2]), "a whole command was refused")
  }
  let isAnswer = bytes.count >= 6 && (bytes[0] == 0x0E || bytes[0] == 0x0F)
  guard let result = unsafe CommandResult(bytes.span.bytes) else {
    return require(!isAnswer, "an answer was passed over")
  }
  require(isAnswer, "something else was taken for an answer")
  let place = bytes[0] == 0x0E ? 3 : 4
  let opcode = UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8
  require(result.opcode.rawValue == opcode, "another opcode")
  require(result.status == bytes[bytes[0] == 0x0E ? 5 : 2], "another status")
  let values = bytes[0] == 0x0E ? bytes.count - 6 : 0
  require(result.parameters.byteCount == values, "\(result.parameters.byteCount) bytes")
  require((try? LEFeatures(result.parameters)) != nil || values < 8, "features were refused")
  require((try? ControllerVersion(result.parameters)) != nil || values < 6, "a version was refused")
  let commands = (0..<values).map { bytes[6 + $0] }
  let isExtended = values > 37 && commands[37] & 0x60 == 0x60
  require(
    ScanCommandSet(supportedCommands: commands) == (isExtended ? .extended : .legacy),
    "another command set")
}
