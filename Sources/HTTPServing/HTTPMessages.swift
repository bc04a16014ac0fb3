package import HTTPTypes
import NIOCore
import NIOHTTP1

package struct Request: Sendable {
  let head: HTTPRequest
  package let body: [UInt8]
  /// The target up to the query, not decoded.
  package let path: String
  /// The values of the query by their keys, decoded; the first value of a key.
  package let query: [String: String]

  package var method: HTTPRequest.Method { head.method }
  package var headers: HTTPFields { head.headerFields }

  /// Creates a request; `nil` for a method that is not a token.
  init?(_ http1: HTTPRequestHead, _ body: ByteBuffer) {
    guard let method = HTTPRequest.Method(http1.method.rawValue) else { return nil }
    var fields = HTTPFields()
    for (name, value) in http1.headers where name.lowercased() != "host" {
      if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
    }
    head = HTTPRequest(
      method: method, scheme: "http", authority: http1.headers["Host"].first, path: http1.uri,
      headerFields: fields)
    self.body = Array(body.readableBytesView)
    let parts = http1.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    path = String(parts[0])
    let query = parts.dropFirst().first?.prefix { $0 != "#" } ?? ""
    self.query = Dictionary(
      query.split(separator: "&").map { pair in
        let key = pair.prefix { $0 != "=" }
        let value = String(pair.dropFirst(key.count + 1))
        return (String(key), percentDecoded(value) ?? value)
      }, uniquingKeysWith: { first, _ in first })
  }
}

package struct Response: Sendable {
  package typealias Writer = @Sendable ([UInt8]) async throws -> Void

  package enum Body: Sendable {
    case bytes([UInt8])
    /// Writes until the service stops or the task is canceled. The connection ends with it.
    case stream(@Sendable (_ writer: Writer) async throws -> Void)
  }

  package var status: HTTPResponse.Status
  package var headers: HTTPFields
  package let body: Body

  package init(status: HTTPResponse.Status, headers: HTTPFields = [:], body: Body = .bytes([])) {
    self.status = status
    self.headers = headers
    self.body = body
    if case .bytes(let bytes) = body { self.headers[.contentLength] = String(bytes.count) }
  }

  var head: HTTPResponseHead {
    HTTPResponseHead(
      version: .http1_1,
      status: HTTPResponseStatus(statusCode: status.code, reasonPhrase: status.reasonPhrase),
      headers: HTTPHeaders(headers.map { ($0.name.rawName, $0.value) }))
  }
}

/// A connection, whose requests a ``RequestReader`` has completed.
struct HTTPConnection: Sendable {
  typealias Channel = NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>

  let channel: Channel

  init(channel: Channel) { self.channel = channel }

  /// Takes a connection of which nothing was read yet, or returns `nil` if it is closed.
  ///
  /// The task that responds makes this, and not the listener: SwiftNIO traps where the listener ends
  /// while it still has one that no task has taken.
  init?(to channel: any NIOCore.Channel) async {
    let channel = try? await channel.eventLoop.submit {
      guard channel.isActive else { throw ChannelError.ioOnClosedChannel }
      let wrapped = try Channel(
        wrappingChannelSynchronously: channel,
        configuration: .init(isOutboundHalfClosureEnabled: true))
      try channel.syncOptions?.setOption(.autoRead, value: true)
      return wrapped
    }.get()
    guard let channel else { return nil }
    self.channel = channel
  }

  /// Responds to one request after the other until the client closes the connection, or the task is
  /// canceled. An error of the connection ends it.
  @concurrent func respond(with responder: @Sendable (Request) async -> Response) async {
    await withTaskCancellationHandler {
      try? await channel.executeThenClose { inbound, outbound in
        try await withThrowingTaskGroup { stream in
          // A stream has a task of its own. Meanwhile, the loop waits for the end of the connection,
          // and any other request ends both.
          defer { stream.cancelAll() }
          var isStreaming = false
          var (head, body) = (HTTPRequestHead?.none, ByteBuffer())
          for try await part in inbound {
            guard !isStreaming else { throw CancellationError() }
            switch part {
            case .head(let new): (head, body) = (new, ByteBuffer())
            case .body(var part): body.writeBuffer(&part)
            case .end:
              guard let head, let request = Request(head, body) else { return }
              let response = await responder(request)
              switch response.body {
              case .stream(let write) where head.method != .HEAD:
                isStreaming = true
                try await outbound.write(.head(response.head))
                stream.addTask {
                  try await write {
                    try await outbound.write(.body(.byteBuffer(ByteBuffer(bytes: $0))))
                    // The next write waits while the socket takes nothing. The writer knows that
                    // only when the event loop has written this one.
                    try await channel.channel.eventLoop.submit {}.get()
                  }
                  try await outbound.write(.end(nil))
                  outbound.finish()
                }
              case .stream:
                try await outbound.write(contentsOf: [.head(response.head), .end(nil)])
              case .bytes(let bytes):
                try await outbound.write(contentsOf: [
                  .head(response.head), .body(.byteBuffer(ByteBuffer(bytes: bytes))), .end(nil),
                ])
              }
            }
          }
        }
        outbound.finish()
        try await channel.channel.closeFuture.get()
      }
    } onCancel: {
      channel.channel.close(mode: .input, promise: nil)
    }
  }
}

/// Returns a decoded component of a path or a query (RFC 3986, section 2.1), or `nil` if it is not
/// valid.
package func percentDecoded(_ text: String) -> String? {
  var bytes: [UInt8] = []
  var rest = Array(text.utf8)[...]
  while let byte = rest.popFirst() {
    guard byte == UInt8(ascii: "%") else {
      bytes.append(byte)
      continue
    }
    let digits = rest.prefix(2)
    guard digits.count == 2, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
      let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
    else { return nil }
    bytes.append(value)
    rest = rest.dropFirst(2)
  }
  return String(validating: bytes, as: UTF8.self)
}
