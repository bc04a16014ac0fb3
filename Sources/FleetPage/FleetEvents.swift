import HTTPServing
import Records

/// Changes and alarms as Server-Sent Events (HTML Standard, section 9.2). A stream of one site also
/// announces each new picture.
struct FleetEvents: Sendable {
  let hub: FleetHub
  let site: String?
  let lastEvent: String?
  /// The number of events before the beginning to begin with.
  let last: Int

  @concurrent func write(to writer: Response.Writer) async throws {
    var text = Array("retry: 1000\n\n".utf8)
    var place = hub.end(before: last, of: site)
    if let lastEvent, !lastEvent.isEmpty {
      if let last = hub.place(after: lastEvent) {
        place = last
      } else {
        append("missed", Self.missed(since: lastEvent), to: &text)
      }
    }
    repeat {
      let (entries, isWhole, hasPicture) = hub.events(after: &place, of: site)
      if !isWhole { append("missed", Self.missed(since: nil), to: &text) }
      for entry in entries { append(entry.kind, entry.json, id: entry.id, to: &text) }
      if hasPicture { append("picture", Array("{}".utf8), to: &text) }
      if text.isEmpty { text += ": keep-alive\n\n".utf8 }
      try await writer(text)
      text.removeAll(keepingCapacity: text.capacity <= 1 << 16)
    } while await hub.waiters.wait(unless: { [place] in hub.hasNews(after: place, of: site) })
  }

  private func append(_ kind: String, _ data: [UInt8], id: String? = nil, to text: inout [UInt8]) {
    if let id { text += "id: \(id.filter { !$0.isNewline })\n".utf8 }
    text += "event: \(kind)\ndata: ".utf8
    text += data
    text += "\n\n".utf8
  }

  private static func missed(since id: String?) -> [UInt8] {
    JSON.encode(["since": id.map { String($0.prefix(200)) }])
  }
}
