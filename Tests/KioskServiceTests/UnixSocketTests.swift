import Foundation
import TestSupport
import Testing

@testable import HTTPServing
@testable import KioskService

/// A service on a Unix socket.
@Suite(.blocking) struct UnixSocketTests {
  private let scratch: Scratch
  private var path: String { scratch["socket"] }

  init() throws { scratch = try Scratch() }

  private var answers: Bool {
    guard let client = try? RawClient(path: path) else { return false }
    client.request("GET", "/api/v1/health")
    return (try? client.answer().status) == 200
  }

  @Test func aSecondServiceIsRefusedAndChangesNothing() async throws {
    try await RunningServer.run(on: .unix(path: path)) { _ in
      #expect(answers)
      do {
        try await RunningServer.run(on: .unix(path: path)) { _ in }
        Issue.record("two services listen on one socket")
      } catch let failure as ServiceFailure {
        #expect(
          failure.description
            == "cannot listen on \(path): another program listens there; stop it, or choose another --listen"
        )
      }
      #expect(answers)
    }
    #expect(scratch.names == [])
  }

  @Test func aMissingFolderIsNamed() async throws {
    let failure = await #expect(throws: ServiceFailure.self) {
      try await RunningServer.run(on: .unix(path: "\(path)/http")) { _ in }
    }
    #expect(
      failure?.description
        == "cannot listen on \(path)/http: its folder does not exist; make it, or choose another path"
    )
  }

  @Test func aSocketThatWasLeftBehindIsReplaced() async throws {
    // What a process that was killed leaves behind.
    try await RunningServer.run(on: .unix(path: path)) { _ in
      try FileManager.default.moveItem(atPath: path, toPath: scratch["moved"])
    }
    try FileManager.default.moveItem(atPath: scratch["moved"], toPath: path)
    #expect(throws: RawClient.Failure.self) { try RawClient(path: path) }
    try await RunningServer.run(on: .unix(path: path)) { _ in #expect(answers) }
    #expect(scratch.names == [])
  }

  @Test func onlyItsOwnSocketIsRemoved() async throws {
    try await RunningServer.run(on: .unix(path: path)) { _ in
      try FileManager.default.removeItem(atPath: path)
      try scratch.write([1], "socket")
    }
    #expect(try scratch.bytes("socket") == [1])
    // Nor is another file replaced.
    await #expect(throws: ServiceFailure.self) {
      try await RunningServer.run(on: .unix(path: path)) { _ in }
    }
    #expect(try scratch.bytes("socket") == [1])
  }

  @Test func theDirectoryDecidesWhoMayConnect() async throws {
    // The umask is that of the process, which other tests use: what it leaves to read is what may connect.
    try scratch.write([], "file")
    let readers = try #require(try scratch.permissions("file")) & 0o444
    try await RunningServer.run(on: .unix(path: path)) { _ in
      let permissions = try scratch.permissions("socket")
      #expect(permissions == readers | readers >> 1)
    }
  }
}
