import HummingbirdCore
import NIOCore
import Records

/// The events of the feed as Server-Sent Events (HTML Standard, section 9.2).
///
/// A new stream begins with a snapshot. One that continues behind `Last-Event-ID` begins with what it missed, and
/// the snapshot follows. A stream that is so slow that events are gone gets a snapshot in their place.
struct EventStream: Sendable {
  let hub: KioskHub
  /// The number of the event that the client read last; `nil` for a new stream.
  let lastEvent: String?

  /// Writes events until the feed or the client ends.
  @concurrent func write(to writer: inout any ResponseBodyWriter) async throws {
    var text = Array("retry: 1000\n\n".utf8)
    if let lastEvent {
      let (events, isWhole) = hub.missed(after: lastEvent)
      if !isWhole { append("missed", Self.missed(since: lastEvent), to: &text) }
      for event in events where event.kind != "regions" { append(event, to: &text) }
    }
    var place = appendSnapshot(to: &text)
    try await flush(&text, to: &writer)
    while let batch = await hub.feed.next(after: place) {
      if batch.hasMissed {
        append("missed", Self.missed(since: hub.text(ofID: place.event)), to: &text)
        place = appendSnapshot(to: &text)
      } else {
        for event in batch.events { append(event, to: &text) }
        if let report = batch.report { append("range", report, to: &text) }
        place = batch.place
      }
      if text.isEmpty { text += ": keep-alive\n\n".utf8 }
      try await flush(&text, to: &writer)
    }
    try await writer.finish(nil)
  }

  private func appendSnapshot(to text: inout [UInt8]) -> EventFeed.Place {
    let (json, place) = hub.snapshotJSON
    append("snapshot", json, id: place.event, to: &text)
    return place
  }

  @concurrent private func flush(_ text: inout [UInt8], to writer: inout any ResponseBodyWriter)
    async throws
  {
    try await writer.write(ByteBuffer(bytes: text))
    text.removeAll(keepingCapacity: text.capacity <= 1 << 16)
  }

  /// JSON has no line breaks: one line of data is enough.
  private func append(
    _ kind: String, _ data: [UInt8], id: Int64? = nil, to text: inout [UInt8]
  ) {
    if let id { text += "id: \(hub.text(ofID: id))\n".utf8 }
    text += "event: \(kind)\ndata: ".utf8
    text += data
    text += "\n\n".utf8
  }

  private func append(_ event: FeedEvent, to text: inout [UInt8]) {
    append(event.kind, event.data, id: event.id, to: &text)
  }

  private static func missed(since id: String) -> [UInt8] {
    var json: [UInt8] = []
    RecordType<String>(nil, [Field("since", .text) { $0 }]).append(String(id.prefix(64)), to: &json)
    return json
  }
}
