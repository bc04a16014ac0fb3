import DBusMessages
import Foundation
import Synchronization
import TestDaemons

@testable import LocationSources

/// A GeoClue that permits one start, and stops the client at a moment which the real one meets seldom.
final class ScriptedGeoClue: Sendable {
  /// What the client waits for when the agent takes the permission back.
  enum Moment: Sendable {
    /// The answer to its start, which is that of a client that runs: the property that says so has not changed.
    case start
    /// A location, which comes after the message that the client was stopped.
    case location
  }

  private let moment: Moment
  /// Used by the thread alone from its start on.
  private let bus: Mutex<BusConnection>
  private let answered = Mutex<[String]>([])

  init(_ address: String, stopsDuring moment: Moment) throws {
    self.moment = moment
    bus = Mutex(try BusConnection(.address(address)))
    _ = try bus.withLock { bus in
      try bus.call(
        .toBus("RequestName", .string(GeoClueName.service), .uint32(0)), timeout: 20_000_000_000)
    }
    Thread.detachNewThread { [self] in
      // It ends with the bus.
      while (try? bus.withLock { try answerCalls(&$0) }) != nil {}
    }
  }

  /// The methods that were answered, in their order.
  var answers: [String] { answered.withLock { $0 } }

  private static let client = "/org/freedesktop/GeoClue2/Client/1"
  private static let location = "/org/freedesktop/GeoClue2/Client/1/Location/0"

  private func answerCalls(_ bus: inout BusConnection) throws {
    for message in try bus.receive(waitingAtMost: 20_000_000) where message.kind == .call {
      try answer(message, bus)
    }
  }

  private func answer(_ call: BusMessage, _ bus: BusConnection) throws {
    let member = call.member ?? ""
    defer { answered.withLock { $0.append(member) } }
    switch member {
    case "CreateClient": try bus.reply(to: call, with: [.objectPath(Self.client)])
    case "Start" where answers.contains("Start"):
      try bus.replyError(to: call, name: BusError.Name.accessDenied, message: "level 0")
    case "Start":
      if moment == .start { try change("MaxAccuracyLevel", .uint32(0), of: GeoClueName.agent, bus) }
      try bus.reply(to: call)
      guard moment == .location else { return }
      try bus.send(
        BusMessage(
          signal: "LocationUpdated", of: GeoClueName.client, at: Self.client,
          .objectPath("/"), .objectPath(Self.location)))
    case "GetAll":
      try change("Active", .boolean(false), of: GeoClueName.client, bus)
      try bus.reply(
        to: call, with: [.properties(["Latitude": .double(1), "Longitude": .double(2)])])
    default: try bus.reply(to: call)
    }
  }

  private func change(
    _ name: String, _ value: BusValue, of interface: String, _ bus: BusConnection
  ) throws {
    let path = interface == GeoClueName.client ? Self.client : "/org/freedesktop/GeoClue2/Agent"
    try bus.send(
      BusMessage(
        signal: "PropertiesChanged", of: Bus.properties, at: path, .string(interface),
        .properties([name: value]), .strings([])))
  }
}
