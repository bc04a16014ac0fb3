package import Advertising

/// What a ``CaptureRecorder`` writes, and where.
package struct RecordingConfiguration: Sendable {
  /// The file; with ``maximumBytes`` or ``longestTime``, what the files' names are made from:
  /// `site.btsnoop` becomes `site-000001-20261121T053000Z.btsnoop` and so on. `-` is standard output.
  package var path: String
  /// The format.
  package var format: CaptureWriter.Format
  /// Whether a file of that name is replaced. Files of a rotated recording never are.
  package var replacesFile = false
  /// How large a file may become, in bytes, before the next is begun; `nil` for any size. A file has
  /// one packet at least.
  package var maximumBytes: Int?
  /// For how long a file is recorded, in nanoseconds of the packets' own time, before the next is begun;
  /// `nil` for any time.
  package var longestTime: Int64?
  /// How many files of a rotated recording stay, with those that earlier recordings of the same name
  /// left; the oldest goes first. `nil` for all. With ``maximumBytes``, the disk space that they use is at
  /// most the product of both.
  package var maximumFiles: Int?
  /// How many packets are recorded; `nil` for all.
  package var maximumPackets: Int?
  /// The adapters' addresses, where they are known: ``CaptureWriter/Format/btmon`` keeps them.
  package var addresses: [UInt16: BluetoothAddress] = [:]
  /// Whether a packet waits for the disk where it is slow. A radio cannot wait: its packets are dropped
  /// and counted. A recording can.
  package var waitsForDisk = false

  package init(path: String, format: CaptureWriter.Format) {
    (self.path, self.format) = (path, format)
  }

  /// Whether there are several files.
  var isRotated: Bool { path != "-" && (maximumBytes != nil || longestTime != nil) }
}

/// How far a recording has come.
package struct RecordingStatus: Sendable, Hashable {
  /// Packets that are on the disk.
  package var packets = 0
  /// The bytes of them, with all that the files hold beside them.
  package var bytes = 0
  /// Packets that could not be recorded.
  package var lost = 0
  /// How many files were begun.
  package var files = 0
  /// The file that is being written, or was the last one.
  package var file = ""
  /// What is wrong now.
  package var failure: RecordingError?

  /// Whether nothing more can be recorded, whatever is done: the reader of a pipe went away.
  package var isOver: Bool { failure?.problem == .noReader }
}
