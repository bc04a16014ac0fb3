import Advertising
import Scanning
import Testing

@Suite struct AdapterNameTests {
  @Test(arguments: ["hci0", "hci7", "hci65535", "00:1B:DC:0F:10:07"])
  func readsWhatItWrites(text: String) {
    #expect(AdapterName(text)?.description == text)
  }

  @Test func addressesAreReadInEitherCase() {
    #expect(AdapterName("00:1b:dc:0f:10:07") == AdapterName("00:1B:DC:0F:10:07"))
  }

  @Test(arguments: [
    "", "hci", "hci-1", "hci65536", "hci٣", "eth0", "00:1B:DC:0F:10", "HCI0", "hci0 ",
  ])
  func refuses(text: String) {
    #expect(AdapterName(text) == nil)
  }
}
