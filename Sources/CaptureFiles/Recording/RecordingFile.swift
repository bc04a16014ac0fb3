import SystemPackage

/// A file that is being recorded. It holds whole packets alone, but for the moment of a write.
struct RecordingFile: ~Copyable {
  /// Its name.
  let path: FilePath
  /// Where the last whole packet ends; the next one goes there.
  private(set) var end = 0
  /// Whether it is a pipe or a device: what is written there cannot be removed.
  let isStream: Bool

  private let descriptor: FileDescriptor
  private let closes: Bool
  /// Whether a part of a packet may stand behind the end.
  private var hasRemains = false
  private var needsSync = false

  /// Makes a file, in place of what is there if it may; a pipe or a device is always written to.
  init(_ path: FilePath, mayReplace: Bool) throws(RecordingCallError) {
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
      throw RecordingCallError("open", error)
    }
    closes = true
    isStream = (try? Stat(descriptor))?.type != .regular
  }

  /// Uses what is open already, such as standard output.
  init(_ descriptor: FileDescriptor, named path: FilePath) {
    (self.descriptor, self.path, closes, isStream) = (descriptor, path, false, true)
  }

  deinit {
    if closes { try? descriptor.close() }
  }

  /// Whether its name is gone: what is written to it nobody will find.
  var isRemoved: Bool { !isStream && (try? Stat(descriptor))?.linkCount == 0 }

  /// Writes packets, which end where it is stated, behind the last whole one; returns how many are in the file now,
  /// and why no more are.
  mutating func write(_ bytes: [UInt8], ends: [Int]) -> (whole: Int, failure: RecordingCallError?) {
    if hasRemains {
      do throws(RecordingCallError) {
        try cut()
      } catch {
        return (0, error)
      }
    }
    needsSync = true
    var written = 0
    while written < bytes.count {
      do {
        // The array's memory is used during the call alone.
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
        // Where that fails too, it is tried again before the next packet.
        try? cut()
        return (whole.count, RecordingCallError("write", error))
      }
    }
    end += bytes.count
    return (ends.count, nil)
  }

  /// Waits until what was written is on the disk.
  mutating func sync() throws(RecordingCallError) {
    guard needsSync else { return }
    if !isStream { try descriptor.syncData() }
    needsSync = false
  }

  /// Gives up what stands behind a place: it may not have reached the disk.
  mutating func giveUp(from place: Int) {
    guard !isStream else { return }
    end = place
    hasRemains = true
    try? cut()
  }

  private mutating func cut() throws(RecordingCallError) {
    guard hasRemains else { return }
    do {
      try descriptor.resize(to: Int64(end))
    } catch {
      throw RecordingCallError("ftruncate", error)
    }
    hasRemains = false
  }
}
