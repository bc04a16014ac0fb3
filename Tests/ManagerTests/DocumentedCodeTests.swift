import CoreLocation
import Foundation
import Scanning
import ServiceCore
import Synchronization
import Testing

/// Code in the documents is code that is compiled: each block stands, line by line, in a source file.
@Suite struct DocumentedCodeTests {
  static let documents =
    ["docs/corelocation.md", "docs/authorization.md"] + files("Sources/CoreLocation", ".md")
    + files("Sources/BeaconTesting", ".md") + files("Sources/ServiceCore", ".md")
  static let sources =
    files("Examples/Kiosk", ".swift") + files("Tests/ManagerTests", ".swift")

  static func files(_ folder: String, _ ending: String) -> [String] {
    let found = FileManager.default.enumerator(
      atPath: MemberTable.root.appending(path: folder).path)
    return (found?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(ending) }
      .filter { !$0.contains(".build/") }.map { "\(folder)/\($0)" }.sorted()
  }

  /// The blocks of a language, without indentation and empty lines. Those of a first program are missing:
  /// Scripts/examples.sh builds and runs it as its reader does.
  static func blocks(_ language: String, in document: String) throws -> [[Substring]] {
    var blocks: [[Substring]] = []
    var block: [Substring]?
    var isFirstProgram = false
    for line in try MemberTable.text(document).split(separator: "\n") {
      if line == "```", let done = block {
        blocks.append(done)
        block = nil
      } else if block != nil {
        block?.append(line.trimmed)
      } else if line.hasPrefix("## ") {
        isFirstProgram = line == "## A first program"
      } else if line == "```\(language)", !isFirstProgram {
        block = []
      }
    }
    return blocks
  }

  @Test(arguments: documents) func isCompiled(document: String) throws {
    let sources = try Self.sources.map { path in
      try MemberTable.text(path).split(separator: "\n").map(\.trimmed).filter { !$0.isEmpty }
    }
    for block in try Self.blocks("swift", in: document) {
      let block = block.filter { !$0.isEmpty }
      #expect(
        sources.contains { $0.contains(block) },
        "\(document): stands in no source:\n\(block.joined(separator: "\n"))")
    }
  }

  @Test func documentsAreFound() {
    #expect(Self.documents.count >= 5)
    #expect(Self.sources.contains("Examples/Kiosk/Sources/Kiosk/Kiosk.swift"))
  }

  /// What the article says that the kiosk prints is what Scripts/examples.sh finds that it prints.
  @Test func kioskPrints() throws {
    let printed = try MemberTable.text("Examples/Kiosk/Expected/visitor.txt")
    let article = "Sources/CoreLocation/Documentation.docc/AKioskThatKnowsWhoIsNear.md"
    #expect(try MemberTable.text(article).contains("captures/visitor.btsnoop\n\(printed)```"))
  }

  /// The administrator's files in docs/authorization.md say what the page says of them.
  @Test func administratorsFiles() throws {
    let files = try Self.blocks("json", in: "docs/authorization.md")
    let path = FileManager.default.temporaryDirectory.appending(path: "documented-\(UUID()).json")
    defer { try? FileManager.default.removeItem(at: path) }
    let rules: [[(String, AuthorizationRule)]] = [
      [
        ("com.example.kiosk", .granted(.authorizedAlways)), ("com.example.game", .denied),
        ("com.example.other", .onRequest),
      ],
      [
        ("kiosk.service", .granted(.authorizedAlways)), ("com.example.other", .restricted),
      ],
    ]
    try #require(files.count == rules.count)
    for (file, rules) in zip(files, rules) {
      try Data(file.joined(separator: "\n").utf8).write(to: path)
      let system = SystemAuthorization(path: path.path)
      for (application, rule) in rules {
        #expect(system.rule(for: application, scanner: .available) == rule, "\(application)")
      }
    }
    let page = try MemberTable.text("docs/authorization.md")
    #expect(page.contains("`\(SystemAuthorization.path)`"))
  }

  @Test func openingHours() {
    let hour = Hour()
    let provider = OpeningHours(8..<18) { hour.now.withLock { $0 } }
    #expect(provider.rule(for: "kiosk", scanner: .available) == .restricted)
    hour.now.withLock { $0 = 8 }
    #expect(provider.rule(for: "kiosk", scanner: .available) == .granted(.authorizedAlways))
    #expect(provider.rule(for: "kiosk", scanner: .notPermitted("no")) == .denied)
  }

  private final class Hour: Sendable {
    let now = Mutex(7)
  }
}

extension Substring {
  fileprivate var trimmed: Substring {
    let start = drop { $0 == " " }
    return start.last == " " ? Substring(start.trimmingCharacters(in: .whitespaces)) : start
  }
}
