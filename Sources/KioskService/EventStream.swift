import HTTPServing
import Records
import ServiceCore

/// The journal's entries as Server-Sent Events (HTML Standard, section 9.2), with the latest
/// ranging reports, fixes and headings.
///
/// A stream starts with a snapshot. After `Last-Event-ID`, the missed events precede it. A stream
/// that is too slow for the journal gets a new snapshot in place of the dropped events.
struct EventStream: Sendable {
  let hub: KioskHub
  let lastEvent: String?

  @concurrent func write(to writer: Response.Writer) async throws {
    var text = Array("retry: 1000\n\n".utf8)
    let snapshot = hub.snapshotJSON
    if let lastEvent {
      let (events, isWhole) = hub.missed(after: lastEvent, through: snapshot.place.position)
      if !isWhole { append("missed", Self.missed(since: lastEvent), to: &text) }
      for event in events where event.kind != "regions" { append(event, to: &text) }
    }
    append("snapshot", snapshot.json, id: snapshot.place.position, to: &text)
    var place = snapshot.place
    try await flush(&text, to: writer)
    while await hub.waiters.wait(unless: { [place] in hub.place != place }) {
      let batch = hub.journal.read(after: place.position)
      if batch.hasMissed {
        append("missed", Self.missed(since: hub.journal.text(of: place.position)), to: &text)
        let snapshot = hub.snapshotJSON
        append("snapshot", snapshot.json, id: snapshot.place.position, to: &text)
        place = snapshot.place
      } else {
        // A later snapshot must contain every event that was sent.
        let end = hub.place.position
        for event in batch.entries.prefix(while: { $0.id <= end }) { append(event, to: &text) }
        place.position = max(place.position, min(batch.position, end))
        for (kind, json) in hub.values(after: &place) { append(kind, json, to: &text) }
      }
      if text.isEmpty { text += ": keep-alive\n\n".utf8 }
      try await flush(&text, to: writer)
    }
  }

  @concurrent private func flush(_ text: inout [UInt8], to writer: Response.Writer) async throws {
    try await writer(text)
    text.removeAll(keepingCapacity: text.capacity <= 1 << 16)
  }

  /// Appends an event. One line of data is enough, since the JSON has no line breaks.
  private func append(
    _ kind: String, _ data: [UInt8], id: Int64? = nil, to text: inout [UInt8]
  ) {
    if let id { text += "id: \(hub.journal.text(of: id))\n".utf8 }
    text += "event: \(kind)\ndata: ".utf8
    text += data
    text += "\n\n".utf8
  }

  private func append(_ event: JournalEntry, to text: inout [UInt8]) {
    // The list of regions is a value, so the newest one is sent.
    let data = event.kind == "regions" ? hub.regionsJSON : event.record
    append(event.kind, data, id: event.id, to: &text)
  }

  private static func missed(since id: String) -> [UInt8] {
    RecordType<String>(nil, [Field("since", .text) { $0 }]).json(String(id.prefix(64)))
  }
}
