import Advertising
import FleetSites
import Foundation
import TestSupport
import Testing

/// The configurations of receivers in a folder.
@Suite struct ReceiverSettingsTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private static let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"

  private func settings() -> ReceiverSettings {
    var settings = ReceiverSettings(scratch["."], maximumLength: 1000)
    _ = refresh(&settings)
    return settings
  }

  /// The first look at a change waits for the second.
  private func refresh(_ settings: inout ReceiverSettings) -> Bool {
    let isGone = settings.refresh()
    return settings.refresh() || isGone
  }

  private func site(_ beacons: String = "") throws -> SiteFile {
    let text = """
      name = "museum"
      [[rooms]]
      name = "hall"
      [[receivers]]
      name = "hall-1"
      room = "hall"
      [[receivers]]
      name = "hall-2"
      room = "hall"

      """
    return try SiteFile(parsing: Array((text + beacons).utf8))
  }

  private func text(_ settings: ReceiverSettings, _ file: SiteFile, of receiver: String = "hall-1")
    -> String?
  {
    settings.texts(at: file)[receiver].map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func `a site's file is for all its receivers but one that has its own`() throws {
    var settings = settings()
    let file = try site()
    #expect(settings.isEmpty && text(settings, file) == nil)
    try scratch.write(Array("exit-after = 20".utf8), "museum.toml")
    try scratch.write(Array("exit-after = 30".utf8), "museum.hall-2.toml")
    try scratch.write(Array("exit-after = 40".utf8), "other.toml")
    #expect(refresh(&settings) && settings.faults.isEmpty)
    #expect(text(settings, file) == "exit-after = 20")
    #expect(text(settings, file, of: "hall-2") == "exit-after = 30")
    #expect(!refresh(&settings) && settings.strays(besides: [file]) == ["other.toml"])
    try FileManager.default.removeItem(atPath: scratch["museum.toml"])
    #expect(refresh(&settings) && text(settings, file) == nil)
  }

  @Test func `the names of the site's beacons are added`() throws {
    try scratch.write(
      Array(
        """
        [beacon.own]
        uuid = "\(Self.uuid.lowercased())"
        major = 1
        minor = 2
        [beacon.cart]
        uuid = "\(Self.uuid)"
        major = 1
        minor = 9
        """.utf8), "museum.toml")
    let beacons = [(1, "painting"), (2, "another name"), (3, "cart"), (4, #"with \"quotes\""#)]
    let file = try site(
      beacons.map { "[[beacons]]\nbeacon = \"\(Self.uuid):1:\($0)\"\nname = \"\($1)\"\n" }.joined()
        + "[[beacons]]\nbeacon = \"\(Self.uuid):1:5\"\nrooms = [\"hall\"]\n")
    let added = try #require(text(settings(), file)?.components(separatedBy: "minor = 9").last)
    #expect(
      added == """

        [beacon."painting"]
        uuid = "\(Self.uuid)"
        major = 1
        minor = 1

        [beacon."with \\\"quotes\\\""]
        uuid = "\(Self.uuid)"
        major = 1
        minor = 4

        """)
  }

  @Test func `a file with an error is named, and stays as it was`() throws {
    try scratch.write(Array("exit-after = 20".utf8), "museum.toml")
    var settings = settings()
    let file = try site()
    try scratch.write(Array("exit-after = 20\nexit-after".utf8), "museum.toml")
    #expect(refresh(&settings))
    #expect(settings.faults.count == 1)
    #expect(settings.faults.first?.file.hasSuffix("/museum.toml") == true)
    #expect(settings.faults.first?.message.hasPrefix("line 2, column ") == true)
    #expect(text(settings, file) == "exit-after = 20")
    try scratch.write(Array(repeating: 10, count: 1001), "museum.toml")
    #expect(refresh(&settings) && settings.faults.count == 1)
    try scratch.write([], "museum.toml")
    #expect(refresh(&settings) && settings.faults.isEmpty && text(settings, file) == "")
  }

  @Test func `a file that is being written is not read`() throws {
    var settings = settings()
    let file = try site()
    try scratch.write(Array("exit-after".utf8), "museum.toml")
    let first = settings.refresh()
    try scratch.write(Array("exit-after = 20".utf8), "museum.toml")
    let second = settings.refresh()
    #expect(!first && !second && settings.isEmpty && settings.faults.isEmpty)
    #expect(refresh(&settings) && text(settings, file) == "exit-after = 20")
  }

  @Test func `names that have no room are left out`() throws {
    try scratch.write(Array(repeating: 10, count: 990), "museum.toml")
    let file = try site("[[beacons]]\nbeacon = \"\(Self.uuid):1:1\"\nname = \"painting\"\n")
    #expect(settings().texts(at: file)["hall-1"]?.count == 990)
  }
}
