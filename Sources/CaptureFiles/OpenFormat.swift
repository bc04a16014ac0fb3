import Bytes

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

  private var reader: (any RecordReader)? {
    switch self {
    case .unknown: nil
    case .btsnoop(let reader): reader
    case .pcap(let reader): reader
    case .pcapng(let reader): reader
    }
  }

  var linkTypes: [LinkType] { reader?.linkTypes ?? [] }

  var name: String? {
    reader.map { reader in
      ([type(of: reader).formatName] + reader.linkTypes.map(\.description)).joined(separator: ", ")
    }
  }

  /// Skips the rest of a block that is longer than the buffer.
  mutating func passOver(_ stream: inout ByteStream) {
    guard case .pcapng(var reader) = self, reader.unreadBytes > 0 else { return }
    reader.unreadBytes = stream.pass(reader.unreadBytes)
    self = .pcapng(reader)
  }

  func need(at cursor: borrowing ByteCursor) -> Need {
    if let reader { return reader.need(at: cursor) }
    return switch Magic(cursor) {
    case .btsnoop: Need(what: "file's header", bytes: BTSnoop.headerBytes)
    case .pcap: Need(what: "file's header", bytes: Pcap.headerBytes)
    case .pcapng: Need(what: "file's header", bytes: Pcapng.smallestBlock)
    case nil: Need(what: "file", bytes: 0)
    }
  }
}

extension CaptureReader {
  package static func recognizes(_ start: RawSpan) -> Bool { Magic(ByteCursor(start)) != nil }
}

private enum Magic {
  case btsnoop, pcap, pcapng

  init?(_ cursor: borrowing ByteCursor) {
    let bytes = cursor.rest.extracting(first: BTSnoop.magic.count).array
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
