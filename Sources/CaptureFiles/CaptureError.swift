public import SystemPackage

/// An error of a recording, with its place.
public struct CaptureError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The problem with a recording.
  public enum Problem: Hashable, Sendable {
    /// The file cannot be opened.
    case cannotOpen(Errno)
    /// A read from the file failed.
    case cannotRead(Errno)
    /// The file has no bytes.
    case empty
    /// The first bytes are not those of a supported format.
    case notACapture
    /// The contents of the packets are not supported. The value is the link type's number and name.
    case unsupportedLinkType(String)
    /// The file ends inside an item, given by its name, its size and the available bytes.
    case cutShort(String, needed: Int, available: Int)
    /// A field has a value that the format does not allow.
    case damaged(String)
    /// The gzip data cannot be decompressed.
    case badGzip(String)
  }

  /// The file, or "standard input".
  public var file: String
  /// The problem.
  public var problem: Problem
  /// The offset of the problem in the file, after decompression; `nil` if it has none.
  public var offset: Int?

  package init(file: String, problem: Problem, offset: Int? = nil) {
    self.file = file
    self.problem = problem
    self.offset = offset
  }

  /// A sentence with the problem, its place and what to do.
  public var description: String {
    let place = offset.map { "\(file): byte \($0)" } ?? file
    switch problem {
    case .cannotOpen(.noSuchFileOrDirectory):
      return "\(place): there is no such file; check the path"
    case .cannotOpen(let error):
      return "\(place): cannot open it (\(error)); check the path and its permissions"
    case .cannotRead(.isDirectory): return "\(file): it is a directory; name a file in it"
    case .cannotRead(let error): return "\(place): cannot read it (\(error))"
    case .empty: return "\(place): it is empty, not a capture; record again"
    case .notACapture:
      return "\(place): this is not a btsnoop, pcap or pcapng capture; give one that is"
    case .unsupportedLinkType(let name):
      return "\(place): its packets are \(name), which holds no Bluetooth LE advertising that "
        + "beaconscan reads; see docs/formats.md for those it reads"
    case .cutShort(let what, let needed, let available):
      return "\(place): the \(what) needs \(needed) bytes and only \(available) follow; "
        + "the recording was cut short, what stood before is given"
    case .damaged(let what):
      return "\(place): \(what); the recording is damaged from here on, what stood before is given"
    case .badGzip(let what): return "\(place): \(what); the compressed file is damaged or cut short"
    }
  }
}
