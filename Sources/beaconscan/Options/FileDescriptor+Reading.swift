import SystemPackage

extension FileDescriptor {
  /// Reads a file to its end, or beyond a number of bytes.
  func read(upTo limit: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while bytes.count <= limit {
      // The buffer outlives the call.
      let count = unsafe try buffer.withUnsafeMutableBytes { unsafe try read(into: $0) }
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    return bytes
  }
}
