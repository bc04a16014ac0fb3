import DequeModule
package import Dispatch
import Glibc
import Synchronization

/// A connected socket on which each message is one line.
///
/// Sending never waits: what the socket does not take at once is kept, and while more than
/// ``maximumWaiting`` bytes wait, no line is read. So a process that does not read gets no answers
/// to further requests. Beyond ``limit`` bytes, the connection ends.
package final class LineSocket: Sendable {
  /// The number of waiting bytes beyond which nothing is read.
  package static let maximumWaiting = 1 << 20
  /// The most waiting bytes of a connection.
  package static let limit = 32 << 20

  /// Returns whether the peer may be received from.
  package typealias Confirmation = @Sendable (_ socket: Int32) -> Bool

  private let descriptor: Int32
  private let maximumLine: Int
  private let queue: DispatchQueue
  private let output = Mutex(Output())
  private let input: Mutex<Input>
  // Any thread may suspend, resume and cancel a source.
  nonisolated(unsafe) private let reader: any DispatchSourceRead
  nonisolated(unsafe) private let writer: any DispatchSourceWrite

  private struct Output {
    var waiting = Deque<ArraySlice<UInt8>>()
    var bytes = 0
    var isWriting = false
    var isPaused = false
    var isClosed = false
  }

  private struct Input {
    var line: [UInt8] = []
    /// Called once, before the first bytes are read.
    var confirm: Confirmation?
    var received: (@Sendable ([UInt8]) -> Void)?
    var ended: (@Sendable () -> Void)?
  }

  /// Takes a connected socket, which it closes at its end. Lines are received on a serial queue.
  package init(
    _ descriptor: Int32, maximumLine: Int, on queue: DispatchQueue,
    confirm: Confirmation? = nil
  ) {
    input = Mutex(Input(confirm: confirm))
    self.descriptor = descriptor
    self.maximumLine = maximumLine
    self.queue = queue
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    unsafe reader = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    unsafe writer = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue)
  }

  /// Begins to receive. Each line is passed without its line feed; `ended` is called once, at the
  /// end of the connection, also after ``close()``.
  package func start(
    received: @escaping @Sendable ([UInt8]) -> Void, ended: @escaping @Sendable () -> Void
  ) {
    input.withLock { input in
      input.received = received
      input.ended = ended
    }
    // The descriptor is closed after both sources have ended.
    let open = DispatchGroup()
    open.enter()
    open.enter()
    unsafe reader.setCancelHandler { open.leave() }
    unsafe writer.setCancelHandler { open.leave() }
    open.notify(queue: queue) { [self] in
      Glibc.close(descriptor)
      let ended = input.withLock { input in
        input.received = nil
        return input.ended.take()
      }
      ended?()
    }
    unsafe reader.setEventHandler { [self] in read() }
    unsafe writer.setEventHandler { [self] in write() }
    unsafe reader.activate()
  }

  /// Sends a line, to which it adds the line feed.
  package func send(_ line: [UInt8]) {
    let (starts, isTooMuch) = output.withLock { output in
      guard !output.isClosed else { return (false, false) }
      output.waiting.append((line + [UInt8(ascii: "\n")])[...])
      output.bytes += line.count + 1
      return (!output.isWriting, output.bytes > Self.limit)
    }
    if starts { write() }
    if isTooMuch { queue.async { [self] in close() } }
  }

  /// Ends the connection, after a last attempt to send what waits.
  package func close() {
    _ = sendWaiting()
    let (isFirst, isWriting, isPaused) = output.withLock { output in
      defer {
        output.isClosed = true
        output.waiting.removeAll()
        output.bytes = 0
      }
      return (!output.isClosed, output.isWriting, output.isPaused)
    }
    guard isFirst else { return }
    // A suspended source cannot end.
    if isPaused { unsafe reader.resume() }
    if !isWriting { unsafe writer.resume() }
    unsafe reader.cancel()
    unsafe writer.cancel()
  }

  private func write() {
    guard !sendWaiting() else { return }
    // What the other end has sent before its end is still there.
    queue.async { [self] in
      read()
      close()
    }
  }

  /// Sends what the socket takes. Returns whether the other end still receives.
  private func sendWaiting() -> Bool {
    output.withLock { output in
      guard !output.isClosed else { return true }
      var isOpen = true
      while let first = output.waiting.first {
        let (count, error) = unsafe first.withUnsafeBytes {
          let count = unsafe Glibc.send(
            descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
          return (count, errno)
        }
        if count < 0 {
          if error == EINTR { continue }
          isOpen = error == EAGAIN
          if !isOpen {
            output.waiting.removeAll()
            output.bytes = 0
          }
          break
        }
        output.bytes -= count
        output.waiting.removeFirst()
        if count < first.count { output.waiting.prepend(first.dropFirst(count)) }
      }
      schedule(&output)
      return isOpen
    }
  }

  /// Waits for room while something is left, and pauses reading while too much is.
  private func schedule(_ output: inout Output) {
    if output.waiting.isEmpty == output.isWriting {
      output.isWriting.toggle()
      if output.isWriting { unsafe writer.resume() } else { unsafe writer.suspend() }
    }
    if (output.bytes > Self.maximumWaiting) != output.isPaused {
      output.isPaused.toggle()
      if output.isPaused {
        unsafe reader.suspend()
      } else {
        unsafe reader.resume()
        queue.async { [self] in read() }
      }
    }
  }

  /// Reads until nothing is left: a source may not report an end that comes with the last bytes.
  private func read() {
    if let confirm = input.withLock({ $0.confirm.take() }), !confirm(descriptor) { return close() }
    var bytes = [UInt8](repeating: 0, count: 1 << 14)
    while output.withLock({ !$0.isPaused && !$0.isClosed }) {
      let (count, error) = unsafe bytes.withUnsafeMutableBytes {
        let count = unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
        return (count, errno)
      }
      if count < 0, error == EINTR { continue }
      if count < 0, error == EAGAIN { return }
      guard count > 0 else { return close() }
      receive(bytes[..<count])
    }
  }

  private func receive(_ bytes: ArraySlice<UInt8>) {
    var rest = bytes
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let (line, received) = input.withLock { input in
        defer { input.line = [] }
        return (input.line + rest[..<end], input.received)
      }
      rest = rest[(end + 1)...]
      guard !output.withLock(\.isClosed) else { return }
      if line.count > maximumLine { return close() }
      received?(line)
    }
    let length = input.withLock { input in
      input.line += rest
      return input.line.count
    }
    if length > maximumLine { close() }
  }
}
