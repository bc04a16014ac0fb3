package import Advertising

package struct RecordingConfiguration: Sendable {
  /// The file's path; `-` is standard output. With ``maximumBytes`` or ``longestTime``, file names
  /// are made from it: `site.btsnoop` becomes `site-000001-20261121T053000Z.btsnoop` and so on.
  package var path: String
  package var format: CaptureWriter.Format
  /// Whether an existing file is replaced. Files of a rotated recording never are.
  package var replacesFile = false
  /// The maximum size of a file in bytes, exceeded only by a single packet; `nil` for no limit.
  package var maximumBytes: Int?
  /// The maximum duration of a file in nanoseconds, by the packets' time; `nil` for no limit.
  package var longestTime: Int64?
  /// The maximum number of files of a rotated recording, with those of earlier recordings of the
  /// same name; the oldest is removed first. `nil` for no limit.
  package var maximumFiles: Int?
  package var maximumPackets: Int?
  /// The addresses of the adapters, if known. ``CaptureWriter/Format/btmon`` stores them.
  package var addresses: [UInt16: BluetoothAddress] = [:]
  /// Whether a packet waits for a slow disk. A radio cannot wait: its packets are dropped and
  /// counted.
  package var waitsForDisk = false

  package init(path: String, format: CaptureWriter.Format) {
    self.path = path
    self.format = format
  }

  var isRotated: Bool { path != "-" && (maximumBytes != nil || longestTime != nil) }
}

package struct RecordingStatus: Sendable, Hashable {
  package var packets = 0
  package var bytes = 0
  package var lost = 0
  package var files = 0
  package var file = ""
  package var failure: RecordingError?

  package var isOver: Bool { failure?.problem == .noReader }
}
