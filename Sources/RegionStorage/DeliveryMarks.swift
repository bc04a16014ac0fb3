import Synchronization
import SystemPackage

/// Which events wait, and the file that says which do not.
///
/// It has a lock of its own, so that a mark never waits for a change that is being written to the disk:
/// between an event's delivery and its mark there is one write of 16 bytes.
final class DeliveryMarks: Sendable {
  private struct State: ~Copyable {
    var file: OpenFile
    var length: Int
    /// How long the file may become before it is written anew.
    var nextRewrite: Int
    /// Events that wait, by rising serial.
    var open: [UInt64]
    /// For each of them what is to be written of its delivery, made beforehand.
    var records: [UInt64: [UInt8]] = [:]
    /// The highest serial so far.
    var issued: UInt64
    var failure: StoreError?
  }

  /// Below this length the file is not worth writing anew, in bytes.
  private static let smallBytes = 65536
  private let path: FilePath
  private let state: Mutex<State>

  /// Goes on with a file, or makes a new one.
  init(
    at path: FilePath, after told: ToldFile, open: [UInt64], issued: UInt64
  ) throws(StoreError) {
    self.path = path
    if told.isThere, !told.isDamaged, told.length <= Self.smallBytes {
      state = Mutex(
        State(
          file: try OpenFile(path), length: told.length, nextRewrite: 2 * Self.smallBytes,
          open: open, issued: issued))
    } else {
      let file = try Self.write(open, issued, at: path)
      let length = ToldFile.recordBytes * (2 + open.count)
      state = Mutex(
        State(
          file: file, length: length, nextRewrite: max(Self.smallBytes, 2 * length), open: open,
          issued: issued))
    }
  }

  /// Events with these serials wait from now on.
  func issue(_ serials: [UInt64]) {
    state.withLock { state in
      state.open += serials
      for serial in serials { state.records[serial] = Self.record(serial) }
      state.issued = max(state.issued, serials.last ?? 0)
    }
  }

  /// An event was delivered.
  func mark(_ serial: UInt64) {
    state.withLock { Self.mark(serial, &$0, path) }
  }

  /// These are not to be delivered.
  func mark(_ serials: [UInt64]) {
    state.withLock { state in
      for serial in serials { Self.mark(serial, &state, path) }
    }
  }

  private static func mark(_ serial: UInt64, _ state: inout State, _ path: FilePath) {
    let place = state.open.place(of: serial)
    guard place < state.open.count, state.open[place] == serial else { return }
    do throws(StoreError) {
      // Nothing that can wait comes before the write: who is killed until then is told it again.
      try state.file.writeAtOnce(state.records[serial] ?? record(serial), at: state.length)
      state.length += ToldFile.recordBytes
      state.open.remove(at: place)
      state.records[serial] = nil
      guard state.length > state.nextRewrite else { return }
      // Should it fail, not with each mark again.
      state.nextRewrite = 2 * state.length
      state.file = try write(state.open, state.issued, at: path)
      state.length = ToldFile.recordBytes * (2 + state.open.count)
      state.nextRewrite = max(smallBytes, 2 * state.length)
    } catch {
      // It is over for this process; the next one may tell it again.
      if place < state.open.count, state.open[place] == serial { state.open.remove(at: place) }
      state.records[serial] = nil
      state.failure = state.failure ?? error
    }
  }

  /// What is written of a delivery.
  private static func record(_ serial: UInt64) -> [UInt8] {
    var record = [UInt8](repeating: 0, count: ToldFile.recordBytes)
    ToldFile.write(.delivered, serial, at: 0, to: &record)
    return record
  }

  /// All events up to this serial were delivered.
  var allUpTo: UInt64 {
    state.withLock { state in state.open.first.map { $0 - 1 } ?? state.issued }
  }

  /// The serials of events that wait, rising.
  var open: [UInt64] { state.withLock { $0.open } }

  /// How many events wait.
  var openCount: Int { state.withLock { $0.open.count } }

  /// The first write that failed.
  var failure: StoreError? { state.withLock { $0.failure } }

  /// Writes a whole file beside the one of that name and gives it the name.
  private static func write(
    _ open: [UInt64], _ issued: UInt64, at path: FilePath
  ) throws(StoreError) -> OpenFile {
    let temporary = path.beside(".new")
    Directory.remove(temporary)
    var file = try OpenFile(temporary, options: [.create, .exclusiveCreate])
    try file.write(ToldFile.bytes(allUpTo: issued, except: open), at: 0)
    try Directory.rename(temporary, to: path)
    file.path = path
    return file
  }
}

extension [UInt64] {
  /// Where a number stands, or would stand, in rising order.
  func place(of number: UInt64) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
