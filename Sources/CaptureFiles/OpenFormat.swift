import Bytes

/// The format of an open capture, with its reader's state.
enum OpenFormat {
  case unknown
  case btsnoop(BTSnoop)
  case pcap(Pcap)
  case pcapng(Pcapng)

  /// Detects the format from the first bytes, and reads the file header once it is complete.
  init(parsing cursor: inout ByteCursor) throws(ParseError) {
    self = .unknown
    switch Magic(cursor) {
    case .btsnoop where cursor.remaining >= BTSnoop.headerBytes:
      self = .btsnoop(try BTSnoop(parsing: &cursor))
    case .pcap where cursor.remaining >= Pcap.headerBytes: self = .pcap(try Pcap(parsing: &cursor))
    case .pcapng where cursor.remaining >= 4: self = .pcapng(Pcapng())
    case nil where cursor.remaining >= BTSnoop.magic.count:
      throw ParseError(.invalid(Self.notACapture), at: 0)
    default: break
    }
  }

  static let notACapture: StaticReason = "not a capture"

  /// The link type of all packets, or of the first interface of pcapng.
  var linkType: LinkType? {
    switch self {
    case .unknown: nil
    case .pcapng(let reader): reader.interfaces.first?.linkType
    case .btsnoop(let reader): reader.linkType
    case .pcap(let reader): reader.linkType
    }
  }

  var namesAdapters: Bool {
    if case .pcapng(let reader) = self {
      return reader.interfaces.contains { $0.linkType.namesAdapters }
    }
    return linkType?.namesAdapters ?? false
  }

  var name: String? {
    switch self {
    case .unknown: nil
    case .btsnoop(let reader): "btsnoop, \(reader.linkType)"
    case .pcap(let reader): "pcap, \(reader.linkType)"
    case .pcapng(let reader): reader.name
    }
  }

  /// Skips the rest of a block that is longer than the buffer.
  mutating func passOver(_ stream: inout ByteStream) {
    guard case .pcapng(var reader) = self, reader.unreadBytes > 0 else { return }
    reader.unreadBytes = stream.pass(reader.unreadBytes)
    self = .pcapng(reader)
  }

  func need(at cursor: borrowing ByteCursor) -> Need {
    switch self {
    case .unknown:
      switch Magic(cursor) {
      case .btsnoop: Need(what: "file's header", bytes: BTSnoop.headerBytes)
      case .pcap: Need(what: "file's header", bytes: Pcap.headerBytes)
      case .pcapng: Need(what: "file's header", bytes: Pcapng.smallestBlock)
      case nil: Need(what: "file", bytes: 0)
      }
    case .btsnoop(let reader): reader.need(at: cursor)
    case .pcap(let reader): reader.need(at: cursor)
    case .pcapng(let reader): reader.need(at: cursor)
    }
  }
}

extension CaptureReader {
  package static func recognizes(_ start: RawSpan) -> Bool { Magic(ByteCursor(start)) != nil }
}

private enum Magic {
  case btsnoop, pcap, pcapng

  /// Compares as many of the first bytes as are available.
  init?(_ cursor: borrowing ByteCursor) {
    let start = cursor.rest.extracting(first: BTSnoop.magic.count)
    let bytes = unsafe start.withUnsafeBytes { unsafe Array($0) }
    guard !bytes.isEmpty else { return nil }
    if BTSnoop.magic.starts(with: bytes) {
      self = .btsnoop
    } else if Pcapng.magic.starts(with: bytes.prefix(4)) {
      self = .pcapng
    } else if Pcap.magics.contains(where: { $0.starts(with: bytes.prefix(4)) }) {
      self = .pcap
    } else {
      return nil
    }
  }
}
