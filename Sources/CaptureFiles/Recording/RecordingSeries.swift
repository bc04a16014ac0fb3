import Advertising
import Scanning
import SystemPackage

/// The files of a recording, one after another. It receives packets in batches; when a call
/// returns, each packet is on the disk or counted as lost.
struct RecordingSeries: ~Copyable {
  let configuration: RecordingConfiguration
  private let writer: CaptureWriter
  private var names: RecordingNames
  private let remark: @Sendable (String) -> Void

  private(set) var status = RecordingStatus()
  private var goodBatches = 0
  /// The number of good batches, five seconds of them, that end a fault.
  private static let batchesOfHealth = 10

  private var file: RecordingFile?
  /// The time at which the file begins, and the number of packets for it.
  private var began = WallClockTime(nanoseconds: 0)
  private var packetsInFile = 0
  /// The adapters described in the file, in the order of its interfaces, and the end of each.
  private var adapters: [(index: UInt16, place: Int)] = []
  private var hasTriedToOpen = false

  /// The bytes to write and, for each part, its end and the number of packets up to there.
  private var pending: [UInt8] = []
  private var ends: [Int] = []
  private var packetsByEnd: [Int] = []
  private var pendingPackets = 0
  /// The start and the number of packets that are not known to be on the disk.
  private var unsynced = (place: 0, packets: 0)

  private static let chunk = 256 * 1024

  private init(
    _ configuration: RecordingConfiguration, names: RecordingNames,
    _ remark: @escaping @Sendable (String) -> Void
  ) {
    self.configuration = configuration
    self.names = names
    self.remark = remark
    writer = CaptureWriter(format: configuration.format)
  }

  /// Creates the first file. A rotated recording without a time creates it with its first packet.
  static func begin(
    _ configuration: RecordingConfiguration, at time: WallClockTime?,
    remark: @escaping @Sendable (String) -> Void
  ) throws(RecordingError) -> RecordingSeries {
    do throws(RecordingError.Problem) {
      var series = RecordingSeries(
        configuration, names: try RecordingNames(configuration), remark)
      if time == nil, configuration.isRotated { return series }
      let time = time ?? WallClockTime(nanoseconds: .max)
      series.file = try series.names.next(at: time, mayReplace: configuration.replacesFile)
      series.begin(at: time)
      series.writeHeader()
      series.flush()
      return series
    } catch {
      var problem = error
      if case .failed(_, let errno) = error { problem = .cannotCreate(errno) }
      // Opening a directory also fails with `fileExists`, but --force does not help there.
      let isDirectory = (try? Stat(FilePath(configuration.path)))?.type == .directory
      if isDirectory { problem = .cannotCreate(.isDirectory) }
      throw RecordingError(file: configuration.path, problem: problem)
    }
  }

  mutating func write(_ packets: borrowing PacketBuffer) {
    hasTriedToOpen = false
    goodBatches += 1
    if file?.isRemoved == true {
      fail(.removed)
      file = nil
    }
    packets.forEach { packet, time, isReceived, adapter in
      add(packet, at: time, isReceived: isReceived, adapter: adapter)
    }
    flush()
    recover()
  }

  mutating func finish() {
    flush()
    file = nil
  }

  private mutating func add(
    _ packet: RawSpan, at time: WallClockTime, isReceived: Bool, adapter: UInt16
  ) {
    if file != nil, isFull(for: packet.byteCount, at: time, adapter) {
      finish()
      hasTriedToOpen = false
    }
    if file == nil { open(at: time) }
    guard file != nil else {
      status.lost += 1
      return
    }
    began = min(began, time)
    writeHeader()
    let source = declare(adapter, at: time)
    writer.write(packet, at: time, isReceived: isReceived, source: source, to: &pending)
    packetsInFile += 1
    pendingPackets += 1
    endPart()
    if pending.count >= Self.chunk { writeOut() }
  }

  /// Returns `true` if the next file must begin before a packet.
  private mutating func isFull(for count: Int, at time: WallClockTime, _ adapter: UInt16) -> Bool {
    guard configuration.isRotated, packetsInFile > 0 else { return false }
    if let longest = configuration.longestTime, time.nanoseconds(since: began) >= longest {
      return true
    }
    guard let most = configuration.maximumBytes else { return false }
    let isKnown = adapters.contains { $0.index == adapter }
    let size = writer.size(ofPacket: count) + (isKnown ? 0 : CaptureWriter.maximumAdapterBytes)
    return (file?.end ?? 0) + pending.count + size > most
  }

  private mutating func open(at time: WallClockTime) {
    guard !hasTriedToOpen, !status.isOver else { return }
    hasTriedToOpen = true
    do throws(RecordingError.Problem) {
      file = try names.next(at: time, mayReplace: false)
    } catch {
      return fail(error)
    }
    begin(at: time)
  }

  private mutating func begin(at time: WallClockTime) {
    if let problem = names.removeProblem() { fail(problem) }
    began = time
    packetsInFile = 0
    adapters.removeAll(keepingCapacity: true)
    unsynced = (0, 0)
    status.files += 1
    status.file = file?.path.string ?? ""
    if status.failure?.problem == .removed { status.failure = nil }
  }

  /// Reports a fault, once until recording has recovered.
  private mutating func fail(_ problem: RecordingError.Problem) {
    goodBatches = 0
    guard status.failure?.problem.isSame(as: problem) != true else { return }
    let file = configuration.path == "-" ? "standard output" : configuration.path
    let error = RecordingError(file: file, problem: problem)
    status.failure = error
    // Nobody needs to know that a pipe's reader has gone.
    if problem != .noReader { remark(error.description) }
  }

  /// Counts packets that were dropped before they arrived, because the disk was too slow.
  mutating func drop(_ count: Int) {
    status.lost += count
    fail(.tooSlow)
  }

  private mutating func recover() {
    guard let failure = status.failure, goodBatches >= Self.batchesOfHealth else { return }
    status.failure = nil
    let lost = status.lost == 1 ? "1 packet was" : "\(status.lost) packets were"
    remark("\(failure.file): recording goes on; \(lost) lost so far")
  }

  private mutating func writeHeader() {
    guard pending.isEmpty, file?.end == 0 else { return }
    if configuration.format == .pcapng {
      writer.writeSection(to: &pending)
    } else {
      writer.writeHeader(to: &pending)
    }
    endPart()
  }

  /// Describes an adapter in the file if necessary, and returns the source for its packets.
  private mutating func declare(_ adapter: UInt16, at time: WallClockTime) -> UInt16 {
    guard configuration.format != .btsnoop else { return 0 }
    var number = adapters.firstIndex { $0.index == adapter }
    if number == nil {
      let address = configuration.addresses[adapter] ?? BluetoothAddress(rawValue: 0)
      writer.writeAdapter(adapter, address: address, at: time, to: &pending)
      endPart()
      number = adapters.count
      adapters.append((adapter, (file?.end ?? 0) + pending.count))
    }
    return configuration.format == .pcapng ? UInt16(clamping: number ?? 0) : adapter
  }

  private mutating func endPart() {
    ends.append(pending.count)
    packetsByEnd.append(pendingPackets)
  }

  private mutating func flush() {
    writeOut()
    do throws(RecordingError.Problem) {
      try file?.sync()
      status.packets += unsynced.packets
      status.bytes += max(0, (file?.end ?? 0) - unsynced.place)
    } catch {
      // After a failed sync, the data may not be on the disk even if it can be read now.
      file?.giveUp(from: unsynced.place)
      status.lost += unsynced.packets
      forgetAdapters()
      fail(error)
    }
    unsynced = (file?.end ?? 0, 0)
  }

  private mutating func writeOut() {
    guard !pending.isEmpty, let result = file?.write(pending, ends: ends) else { return }
    let packets = result.whole > 0 ? packetsByEnd[result.whole - 1] : 0
    unsynced.packets += packets
    status.lost += pendingPackets - packets
    pending.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    packetsByEnd.removeAll(keepingCapacity: true)
    pendingPackets = 0
    guard let failure = result.failure else { return }
    forgetAdapters()
    fail(failure)
    if status.isOver { file = nil }
  }

  /// Forgets the adapters whose description is after the file's end.
  private mutating func forgetAdapters() {
    let end = file?.end ?? 0
    adapters.removeAll { $0.place > end }
  }
}
