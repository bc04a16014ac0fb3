import Foundation
import Scanning
import Testing

@testable import LiveScanning

/// What the kernel's texts say.
@Suite struct KernelTextTests {
  @Test func whichProgramsHaveSockets() throws {
    var pair: [Int32] = [-1, -1]
    // The array outlives the call.
    #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
    defer { for descriptor in pair { close(descriptor) } }
    let lines = try pair.map { descriptor in
      let path = "/proc/self/fd/\(descriptor)"
      let target = try FileManager.default.destinationOfSymbolicLink(atPath: path)
      return "0 2 0 0 0 \(target.filter(\.isNumber)) 0\n"
    }
    let titles = "sk RefCnt Rmem Wmem User Inode Parent\n"
    #expect(HCIPrograms.hasOnly(pair, in: titles + lines.joined()))
    #expect(HCIPrograms.hasOnly([], in: titles))
    #expect(!HCIPrograms.hasOnly([], in: titles + lines[0]), "it is not this scanner's")
    #expect(!HCIPrograms.hasOnly(pair, in: titles + "0 2 0 0 0 1 0\n"))
    #expect(!HCIPrograms.hasOnly(pair, in: nil), "an unknown list proves nothing")
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
