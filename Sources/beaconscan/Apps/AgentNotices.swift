import AppDaemon
import DBusMessages
import KioskService
import ServiceCore

/// The open questions of an agent as notifications of a desktop, with a button for each answer
/// (specifications.freedesktop.org/notification-spec).
struct AgentNotices {
  private let bus: BusConnection
  private let hasMarkup: Bool
  /// The questions that are shown, by the numbers of their notifications.
  private var shown: [UInt32: UInt64] = [:]

  private static let service = "org.freedesktop.Notifications"
  private static let path = "/org/freedesktop/Notifications"
  /// The nanoseconds in which the desktop answers.
  private static let patience: Int64 = 10_000_000_000

  /// Connects to the desktop at the D-Bus address of a session.
  init(bus address: String) throws(CommandError) {
    do throws(BusError) {
      bus = try BusConnection(.address(address))
      for member in ["ActionInvoked", "NotificationClosed"] {
        let rule = BusMatch(path: Self.path, interface: Self.service, member: member)
        _ = try bus.call(.toBus("AddMatch", .string(rule.text)))
      }
      let values = try bus.call(Self.message("GetCapabilities"), timeout: Self.patience)
      let capabilities = (values.first?.asArray ?? []).compactMap(\.asString)
      hasMarkup = capabilities.contains("body-markup")
      guard capabilities.contains("actions") else {
        throw BusError.invalid(reason: "its notifications have no buttons")
      }
    } catch {
      throw CommandError(
        .unavailable, "the desktop cannot ask: \(error); run beaconscan agent in a terminal")
    }
  }

  /// The bus's socket, which is readable when the desktop has a message.
  var descriptor: Int32 { bus.descriptor }

  private static func message(_ member: String, _ body: BusValue...) -> BusMessage {
    BusMessage(call: member, of: service, at: path, to: service, body: body)
  }

  /// Shows the questions that are open now, and closes the others.
  mutating func show(_ questions: [ConsentQuestion], user: UInt32) throws(CommandError) {
    do throws(BusError) {
      for (notice, question) in shown where !questions.contains(where: { $0.id == question }) {
        shown[notice] = nil
        try bus.send(Self.message("CloseNotification", .uint32(notice)))
      }
      for question in questions where !shown.values.contains(question.id) {
        let number = try bus.call(notice(question, user), timeout: Self.patience).first?.asInt
        if let number = number.flatMap(UInt32.init(exactly:)) { shown[number] = question.id }
      }
    } catch {
      throw CommandError(.unavailable, "the desktop does not answer: \(error)")
    }
  }

  private func notice(_ question: ConsentQuestion, _ user: UInt32) -> BusMessage {
    let sentence = question.sentence(for: user)
    let body =
      hasMarkup
      ? sentence.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
        .replacing(">", with: "&gt;") : sentence
    return Self.message(
      "Notify", .string("beaconscan"), .uint32(0), .string("find-location"),
      .string("Beacons and locations"), .string(body),
      .array(
        element: "s",
        question.answers.flatMap { [.string($0.rawValue), .string(Self.label(of: $0))] }),
      // Critical ones stay until they are answered.
      .properties(["urgency": .byte(2)]), .int32(0))
  }

  private static func label(of answer: ConsentAnswer) -> String {
    switch answer {
    case .once: "Once"
    case .whileInUse: "While in use"
    case .always: "Always"
    case .no: "No"
    }
  }

  /// Returns the answers that were given, without waiting.
  mutating func answers() throws(CommandError) -> [(question: UInt64, answer: ConsentAnswer)] {
    let messages: [BusMessage]
    do throws(BusError) {
      messages = try bus.receive(waitingAtMost: 0)
    } catch {
      throw CommandError(.unavailable, "the session has ended: \(error)")
    }
    return messages.compactMap { message in
      guard message.interface == Self.service,
        let notice = message.body.first?.asInt.flatMap(UInt32.init(exactly:))
      else { return nil }
      // One that a person closed is not shown again. Its question ends without an answer.
      guard message.member == "ActionInvoked", let question = shown[notice],
        let answer = message.body.dropFirst().first?.asString.flatMap(ConsentAnswer.init)
      else { return nil }
      return (question, answer)
    }
  }
}
