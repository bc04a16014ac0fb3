import Foundation
import Scanning
import Testing

@testable import HCISockets

/// What the kernel's texts say.
@Suite struct KernelTextTests {
  @Test func whoElseHasSockets() {
    let list = """
      sk               RefCnt Rmem   Wmem   User   Inode  Parent
      000000001dd49384 2      0      0      0      10120  0     
      000000001dd49385 2      0      0      0      10121  0     

      """
    #expect(!SocketCensus.isAlone(but: [], list: list), "those are not this process's")
    #expect(SocketCensus.isAlone(but: [], list: "sk RefCnt\n"))
    #expect(!SocketCensus.isAlone(but: [], list: nil), "what is not known is no proof")
  }

  @Test(arguments: [
    ("0", "0", nil), ("1", "0", RadioBlock.soft), ("1", "1", .hard), ("0", "1", .hard),
  ])
  func rfkill(soft: String, hard: String, block: RadioBlock?) throws {
    let root = FileManager.default.temporaryDirectory.appending(path: "rfkill-\(UUID())")
    let entry = root.appending(path: "hci3/rfkill4")
    try FileManager.default.createDirectory(at: entry, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: root) }
    try Data("\(soft)\n".utf8).write(to: entry.appending(path: "soft"))
    try Data("\(hard)\n".utf8).write(to: entry.appending(path: "hard"))
    #expect(RadioBlock(adapter: 3, sysfs: root.path) == block)
    #expect(RadioBlock(adapter: 4, sysfs: root.path) == nil)
  }

  @Test func everyConditionHasASentence() {
    for condition in ScannerHealth.Condition.allCases {
      let sentence = HealthSentence.of(condition, adapter: "hci0", detail: "why")
      #expect(!sentence.hasSuffix("."))
      #expect(condition == .noBluetooth || sentence.contains("hci0"))
    }
  }
}
