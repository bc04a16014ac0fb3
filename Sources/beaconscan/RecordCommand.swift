import ArgumentParser
import CaptureFiles
import Frontends
import Glibc
import LiveScanning
import Scanning
import SystemPackage

struct RecordCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Save what the adapter receives, as btsnoop or pcapng.",
    discussion: """
      Every advert and LE event, every command and its answer is saved, with its time; btmon, \
      Wireshark and beaconscan read it. What was received more than a second ago outlives a power \
      cut. A full disk is reported once; recording resumes as soon as there is room. It needs raw \
      HCI sockets. With --replay, a recording is recorded again, in another format or in parts.

      EXAMPLES
        beaconscan record site.btsnoop
        beaconscan record site.pcapng --rotate-size 10M --keep 20
        beaconscan record --replay captures/visitor.btsnoop visitor.pcapng
      """)

  @Argument(.file("file", "The file; - is standard output.")) var file: String

  @OptionGroup var source: SourceOptions
  @Option(Inputs.duration.rare) var duration: Seconds?

  @Option(
    Setting(
      "rotate-size", "Begin the next file before one is larger, from 4096: 500K, 10M or 1G.",
      "size",
      details:
        "The files are then named FILE-000001-20260131T090000Z and so on, before FILE's ending.",
      // Smaller files would consist mostly of headers.
      valid: "write a whole number from 4096, alone or with K, M or G"
    ) { scaled($0, ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30], 4096 ... .max) })
  var rotateSize: Int?

  @Option(
    Setting(
      "rotate-every", "Begin the next file after so long: 90s, 15m, 1h or 1d.", "time",
      valid: "write a whole number from 1, alone or with s, m, h or d"
    ) { scaled($0, ["S": 1, "M": 60, "H": 3600, "D": 86400], 1...1_000_000_000) })
  var rotateEvery: Int?

  @Option(
    .whole(
      "keep", "Keep so many files at most, with those of earlier runs; remove the oldest.",
      in: 1 ... .max, shown: "all"))
  var keep: Int?

  @Option(
    .choice(
      "format", "btsnoop, btmon (btsnoop with the adapter) or pcapng.", "format",
      shown: "by the file's ending, else btsnoop; btmon for several adapters"))
  var format: CaptureWriter.Format?

  @Option(Inputs.count("Stop after so many packets.").rare) var count: Int?
  @Flag(.flag("force", "Replace the file if it is there.")) var force: Bool
  @Flag(Inputs.quiet.rare) var quiet: Bool

  mutating func validate() throws {
    source.recordings.duration = duration
    try source.check()
    if keep != nil, !isRotated {
      throw ValidationError(
        "--keep is for several files; give --rotate-size or --rotate-every, by which the next "
          + "is begun.")
    }
    if format == nil { try checkEnding(of: file) }
    if file.isEmpty || FilePath(file).lastComponent == nil {
      throw ValidationError("The recording must have a name.")
    }
    if file == "-", isRotated {
      throw ValidationError("Standard output is one file; leave --rotate-size and -every out.")
    }
    if source.recordings.replay.count > 1 {
      throw ValidationError("One --replay is recorded again; two would not be in order.")
    }
  }

  func run() async throws {
    if file == "-", isatty(STDOUT_FILENO) != 0 {
      throw CommandError(
        .usage, "a recording is binary and standard output is a terminal; give it a file name")
    }
    if !source.isLive, file != "-", isSameFile(as: source.recordings.replay[0]) {
      throw CommandError(
        .usage, "\(file): it cannot be read and written at once; name another file")
    }
    // Before an output is created or replaced.
    try source.recordings.checkFormats()
    var configuration = RecordingConfiguration(path: file, format: writtenFormat)
    configuration.replacesFile = force
    configuration.maximumPackets = count
    configuration.maximumBytes = rotateSize
    configuration.longestTime = rotateEvery.map { Int64($0) * 1_000_000_000 }
    configuration.maximumFiles = keep
    if source.isLive, let adapters = try? Adapter.all() {
      for adapter in adapters { configuration.addresses[adapter.index] = adapter.address }
    }
    try await RecordSession(configuration, isQuiet: quiet).run(source)
  }

  private var isRotated: Bool { rotateSize != nil || rotateEvery != nil }

  private var writtenFormat: CaptureWriter.Format {
    let format = format ?? (file.hasSuffix(".pcapng") ? .pcapng : .btsnoop)
    // The format must contain the adapter, to distinguish the packets of several.
    return format == .btsnoop && source.hasSeveralAdapters ? .btmon : format
  }

  private func isSameFile(as path: String) -> Bool {
    guard !isRotated, let one = try? Stat(FilePath(file)),
      let other = try? Stat(FilePath(path))
    else { return false }
    return one.type == .regular && one.inode == other.inode && one.deviceID == other.deviceID
  }
}

/// Throws for a file whose name states a format that is not written.
func checkEnding(of file: String) throws {
  let ending = FilePath(file).extension?.lowercased() ?? ""
  guard ["pcap", "cap", "gz", "zst", "bz2", "xz"].contains(ending) else { return }
  throw ValidationError(
    "\(file): a recording is written as btsnoop or pcapng, uncompressed; name it .btsnoop or .pcapng, "
      + "or give its --format")
}

private func scaled(
  _ text: String, _ units: [String: Int], _ limits: ClosedRange<Int>
) -> Int? {
  let scale = units[text.last?.uppercased() ?? ""]
  let digits = scale == nil ? text[...] : text.dropLast()
  let product = Int(digits).map { $0.multipliedReportingOverflow(by: scale ?? 1) }
  guard let product, !product.overflow, limits.contains(product.partialValue) else { return nil }
  return product.partialValue
}
