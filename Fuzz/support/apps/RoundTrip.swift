import ServiceCore

/// Reads a line as a message, and checks that the message is sent as a line with the same values; `nil` for another line.
///
/// Neither the keys of an object nor the elements of a set have an order, so the same bytes in any order count as the same.
func message<Message: Codable & Sendable>(_ line: [UInt8], as type: Message.Type) -> Message? {
  guard let read = try? Message(line: line) else { return nil }
  do {
    let sent = try read.line()
    require(!sent.contains(UInt8(ascii: "\n")), "a message has two lines")
    let again = try Message(line: sent)
    require(counts("\(again)".utf8) == counts("\(read)".utf8), "sent as another: \(again), \(read)")
    require(try counts(again.line()) == counts(sent), "sent otherwise the second time: \(read)")
  } catch {
    fatalError("\(read) is not sent and read again: \(error)")
  }
  return read
}

/// Returns how often each byte comes.
func counts(_ bytes: some Sequence<UInt8>) -> [Int] {
  bytes.reduce(into: [Int](repeating: 0, count: 256)) { $0[Int($1)] += 1 }
}
