import HCIPackets
import LiveScanning
import Testing

/// What a command that failed says of itself.
@Suite struct CommandFailureTests {
  @Test func sentences() {
    #expect(
      "\(CommandFailure.refused(.setAdvertisingEnable, status: 0x0C, adapter: "hci0"))"
        == "hci0: command 0x200A was refused: command disallowed (0x0C)")
    #expect(
      "\(CommandFailure.refused(.reset, status: 0xA5, adapter: "hci1"))"
        == "hci1: command 0x0C03 was refused: error 0xA5")
    #expect(
      "\(CommandFailure.unanswered(.readLocalVersion, after: .seconds(3), adapter: "hci0"))"
        == "hci0: the controller did not answer command 0x1001 within 3000 ms")
  }
}
