import Advertising
import CaptureFiles
import Glibc
import Scanning

/// What reading some bytes as a capture came to.
struct Reading: Equatable {
  var sightings: [Sighting] = []
  var packets = 0
  var reports = 0
  var refused: [Int] = []
  var stepsBack = 0
  var formatName: String?
  var error: CaptureError?

  static func == (left: Self, right: Self) -> Bool {
    left.sightings == right.sightings && left.packets == right.packets
      && left.reports == right.reports && left.refused == right.refused
      && left.stepsBack == right.stepsBack && left.formatName == right.formatName
      && left.error?.problem == right.error?.problem && left.error?.offset == right.error?.offset
  }

  /// Reads a file in memory.
  init(_ bytes: [UInt8], packetTap: PacketTap? = nil) {
    self.init(path: file(bytes), size: bytes.count, packetTap: packetTap)
  }

  /// Reads a pipe that gives some bytes at a time, by its packet mode.
  init(_ bytes: [UInt8], atATime count: Int) {
    var ends: [Int32] = [0, 0]
    require(unsafe pipe(&ends) == 0, "no pipe: \(errno)")
    require(fcntl(ends[1], F_SETFL, packetMode) == 0, "no packet mode: \(errno)")
    require(fcntl(ends[0], setPipeSize, 1 << 20) >= 0, "the pipe stays small: \(errno)")
    // The pipe holds 256 pieces: with more, the rest comes in the last ones of 4 KiB.
    let piece = max(count, bytes.count / 200 + 1)
    for start in stride(from: 0, to: bytes.count, by: piece) {
      let end = min(bytes.count, start + piece)
      put(Array(bytes[start..<end]), ends[1])
    }
    close(ends[1])
    defer { close(ends[0]) }
    self.init(path: "/proc/self/fd/\(ends[0])", size: nil)
  }

  private init(path: String, size: Int?, packetTap: PacketTap? = nil) {
    var collector = SightingCollector(capacity: 0)
    var bytesRead = 0
    do throws(CaptureError) {
      let reader = try CaptureReader(path: path, packetTap: packetTap)
      require(reader.size == size, "a size of \(reader.size ?? -1), not \(size ?? -1)")
      var isMore = true
      while isMore {
        collector.removeSightings()
        defer { sightings += collector.sightings }
        do throws(CaptureError) {
          if case .more = try reader.read(into: &collector) {} else { isMore = false }
        } catch {
          self.error = error
          isMore = false
        }
        let status = reader.status(collector.counts)
        require(status.bytesRead >= bytesRead, "read less than before")
        bytesRead = status.bytesRead
        stepsBack = status.stepsBack
        formatName = status.formatName
      }
    } catch {
      self.error = error
    }
    require(size == nil || bytesRead <= size ?? 0, "read more than there is")
    packets = collector.counts.packets
    reports = collector.counts.reports
    refused = refusals(collector.counts)
    require(collector.counts.sightings == sightings.count, "sightings counted and given differ")
    require(collector.counts.advertisingPackets <= packets, "more adverts than packets")
    require(stepsBack < max(1, packets), "more steps back than packets")
  }
}

// The importer drops both: O_DIRECT, by which each read of a pipe gives what one write put in, and
// F_SETPIPE_SZ.
#if arch(arm64)
  private let packetMode: Int32 = 0o200000
#else
  private let packetMode: Int32 = 0o40000
#endif
private let setPipeSize: Int32 = 1031

/// A file without a name that holds the input, and is written anew for each.
private let scratch: Int32 = {
  var name = Array("/dev/shm/beaconscan-fuzz-XXXXXX".utf8CString)
  let descriptor = unsafe mkstemp(&name)
  require(descriptor >= 0, "no file in /dev/shm: \(errno)")
  unsafe unlink(name)
  return descriptor
}()

/// Puts bytes into a file.
///
/// - Returns: Its path, under which the bytes stand until the next call.
func file(_ bytes: [UInt8]) -> String {
  require(ftruncate(scratch, 0) == 0 && lseek(scratch, 0, SEEK_SET) == 0, "no seek: \(errno)")
  put(bytes, scratch)
  return "/proc/self/fd/\(scratch)"
}

private func put(_ bytes: [UInt8], _ descriptor: Int32) {
  let count = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
  require(count == bytes.count, "wrote \(count) of \(bytes.count): \(errno)")
}
