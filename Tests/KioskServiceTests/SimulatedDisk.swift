import CFileCalls
import Dispatch
import Foundation
import Synchronization
import TestSupport

@testable import Storage

/// A folder on a disk that fails, waits or ends as a test decides, and a store's queue that runs when the test lets it.
///
/// The calls that change its files are those of the process (`CFileCalls`), so that SQLite's are among them. What a sync
/// made durable is remembered: a power cut leaves that at least.
final class SimulatedDisk: Sendable {
  /// The files of a folder: names and bytes.
  typealias Image = [String: [UInt8]]

  enum Fault: CaseIterable {
    /// No file becomes longer.
    case full
    /// Nothing can be changed.
    case readOnly
    /// Every call fails, those of syncs too.
    case broken
  }

  /// How the machine or the process ends.
  enum End {
    /// The process dies. Everything that it wrote is there.
    case kill
    /// What was not synced is there or not, each block on its own.
    case powerCut
  }

  /// What the store's queue waits for.
  enum Gate {
    case open
    /// It goes on until its next sync.
    case atSync
    case closed
  }

  private struct State {
    var fault: Fault?
    var gate = Gate.open
    var isHeld = false
    var isSuspended = false
    /// How often the queue was waited for, and which of these waits ended with nothing to do.
    var settles = 0
    var settled = 0
    var isOver = false
    var calls = 0
    var end: (End, after: Int)?
    var image: Image?
    var random: SplitMix64
    /// By inode, the bytes of the latest sync.
    var durable: [UInt64: [UInt8]] = [:]
    /// By name, the inodes of the latest sync of the folder.
    var names: [String: UInt64] = [:]
  }

  let folder: String
  private let state: Mutex<State>
  /// Called when the image of the end is taken, on whatever thread.
  private let onEnd: @Sendable () -> Void
  private let progress = DispatchSemaphore(value: 0)
  private let release = DispatchSemaphore(value: 0)

  private static let all = Mutex<[SimulatedDisk]>([])
  private static let setsHook: Void = unsafe file_calls_set_hook {
    call, descriptor, path, place, count in
    unsafe SimulatedDisk.receive(call, descriptor, path, place, count)
  }

  /// Creates a disk in an empty folder, with the files of an image.
  init(
    _ folder: String, _ image: Image = [:], seed: UInt64, onEnd: @escaping @Sendable () -> Void
  ) throws {
    _ = Self.setsHook
    self.folder = folder
    self.onEnd = onEnd
    var state = State(random: SplitMix64(seed: seed))
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (name, bytes) in image {
      let path = "\(folder)/\(name)"
      try Data(bytes).write(to: URL(filePath: path))
      // What is there at the start is durable.
      let inode = Self.status(path)?.inode ?? 0
      state.durable[inode] = bytes
      state.names[name] = inode
    }
    self.state = Mutex(state)
    Self.all.withLock { $0.append(self) }
  }

  /// Ends the disk: whatever still uses it changes nothing.
  func close() {
    let isHeld = state.withLock { state in
      defer { state.isHeld = false }
      (state.gate, state.isOver) = (.open, true)
      return state.isHeld
    }
    if isHeld { release.signal() }
  }

  /// Removes the folder, and forgets the disk.
  func remove() {
    Self.all.withLock { $0.removeAll { $0 === self } }
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// What is wrong with the disk; `nil` while all is well.
  var fault: Fault? {
    get { state.withLock { $0.fault } }
    set { state.withLock { $0.fault = newValue } }
  }

  /// Has the machine or the process end after so many calls.
  func end(_ end: End, after calls: Int) {
    state.withLock { $0.end = (end, $0.calls + calls) }
  }

  /// The files that the end left; `nil` before it.
  var image: Image? { state.withLock { $0.image } }

  /// Has the machine or the process end now, where it has not.
  func endNow(_ end: End) {
    let isNew = state.withLock { state in
      guard state.image == nil else { return false }
      state.image = image(of: end, &state)
      return true
    }
    if isNew { onEnd() }
  }

  // MARK: The store's queue

  /// Whether the store's queue waits in a call.
  var isHeld: Bool { state.withLock { $0.isHeld } }

  /// Sets what the store's queue waits for.
  func setGate(_ gate: Gate) { state.withLock { $0.gate = gate } }

  /// Lets a queue go on, until it has nothing to do or waits.
  ///
  /// - Returns: Whether it has nothing to do.
  func run(_ queue: DispatchQueue, until gate: Gate) -> Bool {
    free(queue, until: gate)
    return settle(queue)
  }

  /// Waits until a queue that runs has nothing to do or waits, and suspends it where it has nothing to do.
  func settle(_ queue: DispatchQueue) -> Bool {
    let number = state.withLock { state in
      state.settles += 1
      return state.settles
    }
    queue.async { [self] in
      state.withLock { $0.settled = number }
      progress.signal()
    }
    while true {
      let (isHeld, isDone) = state.withLock { ($0.isHeld, $0.settled == number) }
      if isHeld { return false }
      if isDone { break }
      progress.wait()
    }
    queue.suspend()
    state.withLock { $0.isSuspended = true }
    return true
  }

  /// Lets a queue go on, or run freely from now on.
  func free(_ queue: DispatchQueue, until gate: Gate = .open) {
    let (wasHeld, wasSuspended) = state.withLock { state in
      defer { (state.isHeld, state.isSuspended) = (false, false) }
      state.gate = gate
      return (state.isHeld, state.isSuspended)
    }
    if wasHeld { release.signal() }
    if wasSuspended { queue.resume() }
  }

  // MARK: Calls

  private static func receive(
    _ call: FileCall, _ descriptor: Int32, _ path: UnsafePointer<CChar>?, _ place: Int,
    _ count: UnsafeMutablePointer<Int>?
  ) -> Int32 {
    let disks = all.withLock { $0 }
    guard !disks.isEmpty else { return 0 }
    // The string is copied at once.
    let name = unsafe path.map { unsafe String(cString: $0) } ?? Self.path(of: descriptor)
    guard let disk = disks.first(where: { name.hasPrefix($0.folder) }) else { return 0 }
    // The pointer is that of the caller's variable.
    var length = unsafe count?.pointee ?? 0
    let error = disk.receive(call, descriptor, place, &length)
    unsafe count?.pointee = length
    return error
  }

  private func receive(
    _ call: FileCall, _ descriptor: Int32, _ place: Int, _ count: inout Int
  ) -> Int32 {
    // The label outlives the thread's work.
    let isStore = unsafe String(cString: file_calls_queue()) == "beaconscan.storage"
    let waits = state.withLock { state in
      guard isStore, !state.isOver,
        state.gate == .closed || state.gate == .atSync && call == FILE_CALL_SYNC
      else { return false }
      state.isHeld = true
      return true
    }
    if waits {
      progress.signal()
      release.wait()
    }
    let (error, hasEnded) = state.withLock { [count] state -> (Int32, Bool) in
      guard !state.isOver else { return (EIO, false) }
      state.calls += 1
      var hasEnded = false
      if let (end, calls) = state.end, state.calls > calls, state.image == nil {
        state.image = image(of: end, &state)
        hasEnded = true
      }
      let error = self.error(state.fault, call, descriptor, place + count)
      if error == 0, call == FILE_CALL_SYNC { sync(descriptor, &state) }
      return (error, hasEnded)
    }
    if hasEnded { onEnd() }
    return error
  }

  private func error(
    _ fault: Fault?, _ call: FileCall, _ descriptor: Int32, _ end: Int
  ) -> Int32 {
    switch fault {
    case nil: 0
    case .full:
      call == FILE_CALL_WRITE && end > Self.status(descriptor)?.size ?? 0 ? ENOSPC : 0
    case .readOnly: call == FILE_CALL_SYNC ? 0 : EROFS
    case .broken: EIO
    }
  }

  private func sync(_ descriptor: Int32, _ state: inout State) {
    guard let status = Self.status(descriptor) else { return }
    if status.isFolder {
      state.names = currentNames
    } else {
      state.durable[status.inode] = Self.bytes(Self.path(of: descriptor))
    }
  }

  private var currentNames: [String: UInt64] {
    var names: [String: UInt64] = [:]
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
      names[name] = Self.status("\(folder)/\(name)")?.inode
    }
    return names
  }

  private func image(of end: End, _ state: inout State) -> Image {
    let current = currentNames
    if case .kill = end {
      return Dictionary(
        uniqueKeysWithValues: current.keys.map { ($0, Self.bytes("\(folder)/\($0)")) })
    }
    // A file system may have stored names and blocks by itself.
    let names = state.random.next() % 2 == 0 ? state.names : current
    let inodes = Dictionary(current.map { ($0.value, $0.key) }) { $1 }
    let isWhole = state.random.next() % 3 == 0
    var image: Image = [:]
    for (name, inode) in names.sorted(by: { $0.key < $1.key }) {
      let old = state.durable[inode] ?? []
      guard !isWhole, let file = inodes[inode] else {
        image[name] = old
        continue
      }
      image[name] = Self.mixed(old, Self.bytes("\(folder)/\(file)"), &state.random)
    }
    return image
  }

  /// Returns blocks of which each is as it was or as it became.
  private static func mixed(
    _ old: [UInt8], _ new: [UInt8], _ random: inout SplitMix64
  ) -> [UInt8] {
    let block = 4096
    let count = random.next() % 2 == 0 ? old.count : new.count
    var bytes = [UInt8](repeating: 0, count: count)
    for start in stride(from: 0, to: count, by: block) {
      let source = random.next() % 2 == 0 ? old : new
      let end = min(start + block, count, source.count)
      if start < end { bytes.replaceSubrange(start..<end, with: source[start..<end]) }
    }
    return bytes
  }

  // MARK: Files

  private static func path(of descriptor: Int32) -> String {
    var room = [CChar](repeating: 0, count: 4096)
    let size = room.count
    // The array's memory is used during the call alone.
    let count = unsafe room.withUnsafeMutableBufferPointer {
      unsafe $0.baseAddress.map { unsafe readlink("/proc/self/fd/\(descriptor)", $0, size) } ?? 0
    }
    return String(decoding: room.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func status(_ path: String) -> (inode: UInt64, size: Int, isFolder: Bool)? {
    var status = stat()
    // The structure outlives the call.
    guard unsafe stat(path, &status) == 0 else { return nil }
    return (UInt64(status.st_ino), Int(status.st_size), status.st_mode & S_IFMT == S_IFDIR)
  }

  private static func status(_ descriptor: Int32) -> (inode: UInt64, size: Int, isFolder: Bool)? {
    var status = stat()
    // The structure outlives the call.
    guard unsafe fstat(descriptor, &status) == 0 else { return nil }
    return (UInt64(status.st_ino), Int(status.st_size), status.st_mode & S_IFMT == S_IFDIR)
  }

  private static func bytes(_ path: String) -> [UInt8] {
    (try? Data(contentsOf: URL(filePath: path))).map { [UInt8]($0) } ?? []
  }
}
