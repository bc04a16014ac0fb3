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
  /// The maximum number of files of a rotated recording, including those of earlier recordings with
  /// the same name; the oldest is removed first. `nil` for no limit. With ``maximumBytes``, the
  /// disk space used is at most the product of both.
  package var maximumFiles: Int?
  package var maximumPackets: Int?
  /// The addresses of the adapters, if known. ``CaptureWriter/Format/btmon`` stores them.
  package var addresses: [UInt16: BluetoothAddress] = [:]
  /// Whether a packet waits for a slow disk, as is possible with a recording. A radio cannot wait:
  /// its packets are dropped and counted.
  package var waitsForDisk = false

  package init(path: String, format: CaptureWriter.Format) {
    (self.path, self.format) = (path, format)
  }

  var isRotated: Bool { path != "-" && (maximumBytes != nil || longestTime != nil) }
}

package struct RecordingStatus: Sendable, Hashable {
  /// The number of packets on the disk.
  package var packets = 0
  /// The number of bytes on the disk, including file headers.
  package var bytes = 0
  package var lost = 0
  package var files = 0
  /// The current file, or the last one.
  package var file = ""
  package var failure: RecordingError?

  /// Whether recording can never resume, because the reader of a pipe has gone.
  package var isOver: Bool { failure?.problem == .noReader }
}
