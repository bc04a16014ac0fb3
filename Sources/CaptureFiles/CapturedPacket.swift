import Bytes
import Scanning

/// One packet as a capture holds it; its bytes live as long as the reader's buffer.
struct CapturedPacket: ~Escapable {
  /// When it was recorded.
  var time: Timestamp
  /// What it holds.
  var linkType: LinkType
  /// btsnoop's Packet Flags; 0 elsewhere.
  var flags: UInt32
  /// What was captured of it.
  var bytes: RawSpan

  @_lifetime(copy bytes)
  init(time: Timestamp, linkType: LinkType, flags: UInt32 = 0, bytes: RawSpan) {
    self.time = time
    self.linkType = linkType
    self.flags = flags
    self.bytes = bytes
  }
}

/// Reads the packets of one capture format from bytes that are there so far.
protocol CaptureFormat {
  /// The next packet.
  ///
  /// - Parameter cursor: Stands at the start of a record. It is moved past the record when that is
  ///   whole, and past records that hold no packet; never into one that is not whole yet.
  /// - Returns: `nil` where the bytes end before the next record does.
  /// - Throws: ``ParseError`` where the record cannot be one.
  @_lifetime(copy cursor)
  @_lifetime(cursor: copy cursor)
  mutating func next(_ cursor: inout ByteCursor) throws(ParseError) -> CapturedPacket?

  /// How many bytes, beyond those that are there, a record that holds no packet still has: they may
  /// be passed over unread.
  var unreadBytes: Int { get set }

  /// Whether any packets of this capture, as far as it has been read, can be decoded.
  var hasSupportedPackets: Bool { get }

  /// What the bytes at the cursor need to be whole, for the sentence about a recording cut short.
  func need(at cursor: borrowing ByteCursor) -> Need
}

/// How much of a file stands together.
struct Need {
  /// What it is.
  var what: String
  /// How many bytes it has in all.
  var bytes: Int
  /// Whether some of it has been passed over already.
  var isInsideRecord = false
}

/// The longest packet that a capture may hold: libpcap's MAXIMUM_SNAPLEN.
let longestPacket = 262_144
