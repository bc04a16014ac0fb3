import Advertising
import Bytes
import CaptureFiles
import HCIPackets
import Ranging
import Scanning

/// Prints, for each step that a packet takes, its name, nanoseconds and the spread of the middle half
/// of the samples in per cent.
///
///     micro [CAPTURE]      also reads a capture, if one is given
@main
struct Micro {
  static func main() {
    let work = Workload()
    decoding(work)
    tables(work)
    ranging(work)
    text(work)
    recording(work)
    for count in [1, 2] as [UInt16] { Crowd.adapters(count) }
    for size in Crowd.sizes { try? Crowd.monitor(size) }
    for size in Crowd.sizes { Crowd.manager(size) }
    if let path = CommandLine.arguments.dropFirst().first { reading(path) }
  }

  private static func decoding(_ work: Workload) {
    Harness.measure("decode an HCI event to its iBeacon", operations: Workload.count) {
      // The span lives as long as the workload.
      let all = unsafe work.bytes.span.bytes
      var sum = 0
      for range in work.events {
        guard var event = AdvertisingEvent(all.extracting(range)) else { continue }
        while let report = try? event.nextReport() {
          var structures = ADStructures(report.data)
          while let structure = try? structures.next() {
            guard structure.type == .manufacturerSpecificData else { continue }
            if case .frame(let frame) = IBeacon.read(manufacturerData: structure.data) {
              sum &+= Int(frame.identity.minor)
            }
          }
        }
      }
      return sum
    }
    var collector = SightingCollector()
    Harness.measure("collector.receive(event:)", operations: Workload.count) {
      let all = unsafe work.bytes.span.bytes
      collector.removeSightings()
      for range in work.events { collector.receive(event: all.extracting(range)) }
      return collector.sightings.count
    }
    Harness.measure("collector.receive(packet:), CRC checked", operations: Workload.count) {
      collector.removeSightings()
      for packet in work.packets {
        let span = unsafe packet.span.bytes
        collector.receive(packet: span, isCoded: false, checksum: .unchecked, rssi: -60)
      }
      return collector.sightings.count
    }
  }

  private static func tables(_ work: Workload) {
    for beacons in [1000, 30_000] {
      let sightings = beacons == 1000 ? work.sightings : Workload(beacons: beacons).sightings
      var table = BeaconTable<Int>(capacity: 65_536)
      for number in 0..<beacons {
        let time = MonotonicTime(nanoseconds: 0)
        table.update(Workload.identity(number), at: time) {
          0
        } update: {
          $0 = number
        }
      }
      Harness.measure("table.update among \(beacons)", operations: Workload.count) {
        var sum = 0
        for sighting in sightings {
          table.update(sighting.beacon, at: sighting.time) {
            0
          } update: {
            sum &+= $0
          }
        }
        return sum
      }
      Harness.measure("table.update, a batch, among \(beacons)", operations: Workload.count) {
        var sum = 0
        let known = table.updateKnown(sightings.span, from: 0) { state, _ in
          sum &+= state
          return true
        }
        return sum &+ known
      }
    }
    var table = BeaconTable<Int>(capacity: 32_768)
    var next = 0
    Harness.measure("table.update, always a new beacon", operations: Workload.count) {
      for _ in 0..<Workload.count {
        next += 1
        let time = MonotonicTime(nanoseconds: Int64(next))
        table.update(Workload.identity(next), at: time) {
          0
        } update: {
          $0 = next
        }
      }
      return table.evictions
    }
  }

  private static func ranging(_ work: Workload) {
    var ranger = Ranger()
    var now = MonotonicTime(nanoseconds: 0)
    Harness.measure("Ranger.receive among 1000", operations: Workload.count) {
      for var sighting in work.sightings {
        now = now.advanced(by: 100_000)
        sighting.time = now
        ranger.receive(sighting)
      }
      return ranger.beaconsReceived
    }
    Harness.measure("Ranger.report, a beacon of 1000", operations: Workload.beacons) {
      ranger.report(at: now).count
    }
  }

  private static func text(_ work: Workload) {
    Harness.measure("UUID and time as text", operations: 1000) {
      var sum = 0
      for sighting in work.sightings.prefix(1000) {
        sum &+= sighting.beacon.uuid.description.utf8.count
        sum &+= sighting.wallTime.description.utf8.count
      }
      return sum
    }
  }

  /// The cost of a packet for the receiving thread, and for the recorder's own thread.
  private static func recording(_ work: Workload) {
    // As much as half a second may hold; the recorder's thread takes it between two samples.
    var configuration = RecordingConfiguration(path: "/dev/null", format: .btsnoop)
    configuration.waitsForDisk = true
    if let recorder = try? CaptureRecorder(configuration, startingAt: WallClockTime(nanoseconds: 0))
    {
      Harness.measure(
        "CaptureRecorder.record", operations: 8 * Workload.count, afterRestOf: 600
      ) {
        let all = unsafe work.bytes.span.bytes
        for _ in 0..<8 {
          for range in work.events {
            recorder.record(all.extracting(range), at: WallClockTime(nanoseconds: 1))
          }
        }
        return work.events.count
      }
      recorder.finish()
    }
    for format in CaptureWriter.Format.allCases {
      let writer = CaptureWriter(format: format)
      var bytes: [UInt8] = []
      Harness.measure("CaptureWriter.write, \(format)", operations: Workload.count) {
        let all = unsafe work.bytes.span.bytes
        bytes.removeAll(keepingCapacity: true)
        for range in work.events {
          writer.write(all.extracting(range), at: WallClockTime(nanoseconds: 1), to: &bytes)
        }
        return bytes.count
      }
    }
  }

  /// Nanoseconds of a packet of a capture that is read to its end.
  private static func reading(_ path: String) {
    var packets = 1
    func read() -> Int {
      var collector = SightingCollector()
      guard let reader = try? CaptureReader(path: path) else { return 0 }
      while case .more? = try? reader.read(into: &collector) { collector.removeSightings() }
      packets = collector.counts.packets
      return collector.counts.sightings
    }
    _ = read()
    Harness.measure("CaptureReader, a packet of a btsnoop file", operations: packets, read)
  }
}
