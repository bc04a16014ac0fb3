public import SystemPackage

/// A fault of a recording, with its place: one sentence for the person that opened it.
public struct CaptureError: Error, Hashable, Sendable {
  /// What is wrong.
  public enum Problem: Hashable, Sendable {
    /// The file could not be opened.
    case cannotOpen(Errno)
    /// A read from the file failed.
    case cannotRead(Errno)
    /// There is not a single byte.
    case empty
    /// The first bytes are no format's that beaconscan reads.
    case notACapture
    /// The format is known, but not what its packets hold: the link type's number and name.
    case unsupportedLinkType(String)
    /// The file ends inside something: its name, how many bytes it needs, how many there are.
    case cutShort(String, needed: Int, available: Int)
    /// A field has a value that the format does not allow.
    case damaged(String)
    /// The gzip data cannot be decompressed.
    case badGzip(String)
  }

  /// The file, or "standard input".
  public var file: String
  /// What is wrong.
  public var problem: Problem
  /// The byte of the file at which it is wrong (of the decompressed data, for a compressed file);
  /// `nil` where no byte is.
  public var offset: Int?

  package init(file: String, problem: Problem, offset: Int? = nil) {
    self.file = file
    self.problem = problem
    self.offset = offset
  }
}

extension CaptureError: CustomStringConvertible {
  /// What, where, and what to do, in one sentence.
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
