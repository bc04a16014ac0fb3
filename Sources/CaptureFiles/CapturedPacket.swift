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
