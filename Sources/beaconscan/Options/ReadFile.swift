import SystemPackage

/// Reads a file of a kind, such as a configuration, or standard input, to its end or beyond a number
/// of bytes, or until a read has a byte at which it ends.
func readFile(
  _ path: String, _ kind: String, upTo limit: Int, isOnInput: Bool = false,
  endsAt isEnd: (UInt8) -> Bool = { _ in false }
) throws(CommandError) -> [UInt8] {
  do {
    let file =
      isOnInput
      ? .standardInput
      : try FileDescriptor.open(FilePath(path), .readOnly, options: [.closeOnExec])
    defer { if !isOnInput { try? file.close() } }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while bytes.count <= limit {
      // The buffer outlives the call.
      let count = unsafe try buffer.withUnsafeMutableBytes { unsafe try file.read(into: $0) }
      guard count > 0 else { break }
      bytes += buffer[..<count]
      if buffer[..<count].contains(where: isEnd) { break }
    }
    return bytes
  } catch {
    throw CommandError(
      error as? Errno ?? .ioError, isOnInput ? "standard input" : path,
      "cannot read the \(kind)", "check the path and its permissions")
  }
}
