import Adapters
import ArgumentParser
import CaptureFiles
import Glibc
import HCISockets
import SystemPackage

/// `beaconscan record`: saves what the adapter receives.
struct RecordCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Save what the adapter receives, as btsnoop or pcapng.",
    discussion: """
      Every advert and LE event, every command and its answer is saved, with its time; btmon, \
      Wireshark and beaconscan read it. What was received more than a second ago outlives a power cut. A full \
      disk is reported once; recording resumes as soon as there is room.

      With --rotate-size or --rotate-every there are several files, and with --keep only so many \
      stay. With --replay, a recording is recorded again, in another format or in parts. An interrupt \
      ends it cleanly.

      EXAMPLES
        beaconscan record site.btsnoop
        beaconscan record site.pcapng --rotate-size 10M --keep 20
        beaconscan record --replay captures/visitor.btsnoop visitor.pcapng
      """)

  @Argument(help: "The file; - is standard output.", completion: .file())
  var file: String

  @OptionGroup var source: SourceOptions
  @OptionGroup var rotation: RotationOptions

  @Option(
    help: """
      btsnoop, btmon (btsnoop with the adapter) or pcapng. (default: by the file's ending, \
      else btsnoop; btmon for several adapters)
      """)
  var format: CaptureWriter.Format?

  @Option(help: ArgumentHelp("Stop after so many packets.", valueName: "number"))
  var count: Int?

  @Flag(help: "Replace the file if it is there.")
  var force = false

  @Flag(help: "Write only errors to standard error.")
  var quiet = false

  func validate() throws {
    try checkCount(count)
    if file.isEmpty || FilePath(file).lastComponent == nil {
      throw ValidationError("The recording must have a name.")
    }
    if file == "-", rotation.isGiven {
      throw ValidationError("Standard output is one file; leave --rotate-size and -every out.")
    }
    if source.replay.count > 1 {
      throw ValidationError("One --replay is recorded again; two would not be in order.")
    }
    if source.speed != .max {
      throw ValidationError("--speed changes no recording; leave it out.")
    }
  }

  func run() async throws {
    if file == "-", isatty(STDOUT_FILENO) != 0 {
      throw CommandError(
        .usage, "a recording is binary and standard output is a terminal; give it a file name")
    }
    if !source.isLive, file != "-", isSameFile(as: source.replay[0]) {
      throw CommandError(
        .usage, "\(file): it cannot be read and written at once; name another file")
    }
    var configuration = RecordingConfiguration(path: file, format: writtenFormat)
    configuration.replacesFile = force
    configuration.maximumPackets = count
    rotation.apply(to: &configuration)
    if source.isLive, let adapters = try? Adapter.all() {
      for adapter in adapters { configuration.addresses[adapter.index] = adapter.address }
    }
    try await RecordSession(configuration, isQuiet: quiet).run(source)
  }

  private var writtenFormat: CaptureWriter.Format {
    let format = format ?? (file.hasSuffix(".pcapng") ? .pcapng : .btsnoop)
    // Without the adapter, packets of several could not be distinguished.
    return format == .btsnoop && source.hasSeveralAdapters ? .btmon : format
  }

  /// Whether the recording would be written over what is read.
  private func isSameFile(as path: String) -> Bool {
    guard !rotation.isGiven, let one = try? Stat(FilePath(file)),
      let other = try? Stat(FilePath(path))
    else { return false }
    return one.type == .regular && one.inode == other.inode && one.deviceID == other.deviceID
  }
}

extension CaptureWriter.Format: ExpressibleByArgument {}
