import SystemPackage

struct RecordingFile: ~Copyable {
  let path: FilePath
  /// The end of the last whole packet, where the next one is written.
  private(set) var end = 0
  /// Whether the file is a pipe or a device, from which nothing can be removed.
  let isStream: Bool

  private let descriptor: FileDescriptor
  private let closes: Bool
  /// Whether a part of a packet may follow ``end``.
  private var hasRemains = false
  private var needsSync = false

  /// Creates a file, replacing an existing one if allowed. Pipes and devices are just opened.
  init(_ path: FilePath, mayReplace: Bool) throws(RecordingError.Problem) {
    self.path = path
    let permissions: FilePermissions = [.ownerReadWrite, .groupReadWrite, .otherReadWrite]
    do {
      let options: FileDescriptor.OpenOptions =
        if let there = try? Stat(path), there.type != .regular, there.type != .directory {
          .closeOnExec
        } else if mayReplace {
          [.create, .truncate, .closeOnExec]
        } else {
          [.create, .exclusiveCreate, .closeOnExec]
        }
      descriptor = try .open(path, .writeOnly, options: options, permissions: permissions)
    } catch {
      throw .init(call: "open", error)
    }
    closes = true
    isStream = (try? Stat(descriptor))?.type != .regular
  }

  init(_ descriptor: FileDescriptor, named path: FilePath) {
    self.descriptor = descriptor
    self.path = path
    closes = false
    isStream = true
  }

  deinit {
    if closes { try? descriptor.close() }
  }

  /// Whether the file's name has been removed, so that the file can no longer be found.
  var isRemoved: Bool { !isStream && (try? Stat(descriptor))?.linkCount == 0 }

  /// Appends packets that end at the offsets `ends`. Returns the number that are in the file now,
  /// and the reason that others are not.
  mutating func write(
    _ bytes: [UInt8], ends: [Int]
  ) -> (whole: Int, failure: RecordingError.Problem?) {
    do throws(RecordingError.Problem) { try cut() } catch { return (0, error) }
    needsSync = true
    var written = 0
    while written < bytes.count {
      do {
        // The array's memory is used only during the call.
        written += unsafe try bytes.withUnsafeBytes { all in
          let rest = unsafe UnsafeRawBufferPointer(rebasing: all[written...])
          return isStream
            ? unsafe try descriptor.write(rest)
            : unsafe try descriptor.write(toAbsoluteOffset: Int64(end + written), rest)
        }
      } catch {
        let whole = ends.prefix { $0 <= written }
        end += whole.last ?? 0
        hasRemains = !isStream
        // If this fails too, it is tried again before the next packet.
        try? cut()
        return (whole.count, .init(call: "write", error))
      }
    }
    end += bytes.count
    return (ends.count, nil)
  }

  mutating func sync() throws(RecordingError.Problem) {
    guard needsSync else { return }
    if !isStream { try descriptor.syncData() }
    needsSync = false
  }

  /// Removes everything after an offset, because it may not be on the disk.
  mutating func giveUp(from place: Int) {
    guard !isStream else { return }
    end = place
    hasRemains = true
    try? cut()
  }

  private mutating func cut() throws(RecordingError.Problem) {
    guard hasRemains else { return }
    do {
      try descriptor.resize(to: Int64(end))
    } catch {
      throw .init(call: "ftruncate", error)
    }
    hasRemains = false
  }
}
