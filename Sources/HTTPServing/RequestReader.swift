import DequeModule
import HTTPTypes
import NIOCore
import NIOHTTP1

/// Passes on complete and well-framed requests, refuses others, and closes a connection that waits
/// too long for its client. So no route ever waits for bytes.
final class RequestReader: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private enum Wait {
    case next
    case request
    /// The client has not taken a finite answer.
    case answer
    /// The client takes no data at all.
    case stall
  }

  private let limits: ClientLimits
  private let connections: OpenConnections
  private let answer: (HTTPRefusal) -> (head: HTTPResponseHead, body: [UInt8])

  private var context: ChannelHandlerContext?
  private var since: [Wait: NIODeadline] = [:]
  private var timer: Scheduled<Void>?
  private var head: HTTPRequestHead?
  private var body = ByteBuffer()
  /// The bytes read of an incomplete request, then the bytes dropped.
  private var looseBytes = 0
  /// The methods of the requests that have no written answer yet.
  private var owed: Deque<HTTPMethod> = []
  private var untaken = 0
  /// Whether no more requests are read: one was refused, or announced itself as the last.
  private var isLast = false
  private var refusal: HTTPRefusal?
  private var isFinished = false

  init(
    _ limits: ClientLimits, _ connections: OpenConnections,
    answer: @escaping (HTTPRefusal) -> (head: HTTPResponseHead, body: [UInt8])
  ) {
    self.limits = limits
    self.connections = connections
    self.answer = answer
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    connections.opened(context.channel)
    wait(for: .next)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    timer?.cancel()
    timer = nil
    self.context = nil
  }

  /// Handles the arrival of bytes before they are decoded. Returns `false` to drop them.
  func receive(_ bytes: Int) -> Bool {
    guard !isLast else {
      looseBytes += bytes
      if looseBytes > limits.droppedBytes { context?.close(promise: nil) }
      return false
    }
    if since[.request] == nil {
      since[.next] = nil
      wait(for: .request)
    }
    return true
  }

  func received(_ bytes: Int) {
    guard since[.request] != nil, !isLast, let context else { return }
    looseBytes += bytes
    if looseBytes > limits.requestBytes { refuse(tooLong, context) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isLast else { return }
    switch unwrapInboundIn(data) {
    case .head(var head):
      let refusal = head.makeOriginForm()
      let length = head.headers.first(name: "Content-Length").map { Int($0) ?? .max } ?? 0
      self.head = head
      if let refusal {
        refuse(refusal, context)
      } else if length > limits.bodyBytes {
        refuse(tooLong, context)
      }
    case .body(var part):
      guard body.readableBytes + part.readableBytes <= limits.bodyBytes else {
        return refuse(tooLong, context)
      }
      body.writeBuffer(&part)
    case .end: handOver(context)
    }
  }

  private func handOver(_ context: ChannelHandlerContext) {
    guard let head else { return }
    let body = body
    isLast = !head.isKeepAlive
    owed.append(head.method)
    endRequest()
    update()
    context.fireChannelRead(wrapInboundOut(.head(head)))
    if body.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(.body(body))) }
    context.fireChannelRead(wrapInboundOut(.end(nil)))
  }

  private func endRequest() {
    head = nil
    body = ByteBuffer()
    looseBytes = 0
    since[.request] = nil
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
    refuse(
      error == .headerOverflow
        ? HTTPRefusal(.requestHeaderFieldsTooLarge, "the request's address or fields are too long")
        : HTTPRefusal(.badRequest, "this is not a request of HTTP/1.1"), context)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if isFinished, event as? ChannelEvent == .inputClosed {
      return context.close(promise: nil)
    }
    context.fireUserInboundEventTriggered(event)
  }

  private var tooLong: HTTPRefusal {
    HTTPRefusal(.contentTooLarge, "the body is longer than \(limits.bodyBytes) bytes")
  }

  private func refuse(_ refusal: HTTPRefusal, _ context: ChannelHandlerContext) {
    guard !isLast else { return }
    self.refusal = refusal
    isLast = true
    finishIfDone(context)
    update()
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    // An answer to HEAD has the fields of GET and no body (RFC 9110, section 9.3.2).
    let hasBody = owed.first != .HEAD
    switch unwrapOutboundIn(data) {
    case .head(let head):
      if head.headers.contains(name: "Content-Length") { wait(for: .answer) }
      context.write(data, promise: promise)
    case .body:
      context.write(hasBody ? data : nothing, promise: promise)
    case .end:
      let taken = promise ?? context.eventLoop.makePromise()
      taken.futureResult.assumeIsolated().whenSuccess { self.answerTaken(context) }
      _ = owed.popFirst()
      untaken += 1
      if since[.answer] == nil { wait(for: .answer) }
      // The last chunk belongs to the body too.
      context.write(hasBody ? data : nothing, promise: taken)
    }
  }

  private var nothing: NIOAny { wrapOutboundOut(.body(.byteBuffer(ByteBuffer()))) }

  private func answerTaken(_ context: ChannelHandlerContext) {
    untaken -= 1
    since[.answer] = untaken > 0 ? .now() : nil
    if owed.isEmpty, untaken == 0 {
      if since[.request] == nil { since[.next] = .now() }
      finishIfDone(context)
    }
    update()
  }

  /// Ends a connection after the answer to its last request. It is closed later, since unread bytes
  /// from the client would make the kernel drop the answer (RFC 9112, section 9.6).
  private func finishIfDone(_ context: ChannelHandlerContext) {
    guard isLast, owed.isEmpty, !isFinished else { return }
    if let refusal {
      self.refusal = nil
      send(refusal, context)
    } else if untaken > 0 {
      return
    }
    isFinished = true
    endRequest()
    context.close(mode: .output, promise: nil)
    context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limits.lingering)) {
      context.close(promise: nil)
    }
  }

  private func send(_ refusal: HTTPRefusal, _ context: ChannelHandlerContext) {
    let (head, bytes) = answer(refusal)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if self.head?.method != .HEAD {
      context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))), promise: nil)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    } else {
      context.flush()
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    since[.stall] = context.channel.isWritable ? nil : .now()
    update()
    context.fireChannelWritabilityChanged()
  }

  private func wait(for what: Wait) {
    since[what] = .now()
    update()
  }

  /// Starts a timer while the connection waits for the client. One that fires early restarts.
  private func update() {
    guard let context else { return }
    let oldest = since.values.min()
    connections.update(context.channel, waitingSince: oldest)
    guard timer == nil, let oldest else { return }
    timer = context.eventLoop.assumeIsolated().scheduleTask(
      deadline: oldest + TimeAmount(limits.patience)
    ) {
      self.timer = nil
      self.endPatience(context)
    }
  }

  private func endPatience(_ context: ChannelHandlerContext) {
    let end = NIODeadline.now() - TimeAmount(limits.patience)
    guard let oldest = since.values.min(), oldest <= end else { return update() }
    if let begin = since[.request], begin <= end, owed.isEmpty, !isLast {
      send(HTTPRefusal(.requestTimeout, "the request took too long"), context)
    }
    context.close(promise: nil)
  }
}

/// Reports bytes to a ``RequestReader`` before they are decoded. The decoder shows a request's head
/// only when it is complete.
final class ByteCounter: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let reader: RequestReader

  init(_ reader: RequestReader) { self.reader = reader }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data).readableBytes
    guard reader.receive(bytes) else { return }
    context.fireChannelRead(data)
    reader.received(bytes)
  }
}
