import Testing

@testable import BrokerLink

/// The name of this receiver among others on the broker.
@Suite struct NodeTests {
  @Test(arguments: [
    "kiosk", "web--01", "xn--caf-dma", "kiosk-", "--", "café", "a b", "",
    String(repeating: "y", count: 64), String(repeating: "--", count: 32),
  ])
  func `a host of any name has a node that can be used`(name: String) {
    let node = BrokerConfiguration.node(ofHost: name)
    #expect(throws: Never.self) { try BrokerConfiguration(host: "localhost", node: node).check() }
    #expect(node != BrokerConfiguration.node(ofHost: name + "-"))
  }

  @Test(arguments: ["", "a/b", "a+", "#", "é", "a b", "a\n", String(repeating: "y", count: 83)])
  func `a node that is no identifier is refused`(node: String) {
    #expect(throws: BrokerError.self) {
      try BrokerConfiguration(host: "localhost", node: node).check()
    }
  }
}
