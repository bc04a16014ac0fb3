package import CaptureFiles
import HCIPackets
import HeapModule
import Records
import Scanning

/// A generator of a scenario's recording and truth in pieces. Memory does not grow with its length.
///
/// The same scenario gives the same bytes on every machine, in pieces of any size.
package struct Simulator {
  package let scenario: Scenario
  package var elapsed: Double { Double(now) / 1e6 }

  private let writer: CaptureWriter
  private let commands: ScanCommandSet
  private let end: Int64
  private var now: Int64 = 0
  private var isStarted = false
  private var isEnded = false
  private var beacons: [BeaconSender] = []
  private var clutter: [ClutterSender] = []
  private var agenda = Heap<Sending>()
  private var controller: Controller
  private var marks: [TruthMark] = []
  private var nextMark = 0
  private var positions: [Int] = []
  private var nextPosition: Int64 = 0

  private static let scanStart: Int64 = 20_000

  /// A sender's next transmission. Transmissions at the same time are in the order of the senders.
  private struct Sending: Comparable {
    var time: Int64
    var sender: Int

    static func < (left: Self, right: Self) -> Bool {
      (left.time, left.sender) < (right.time, right.sender)
    }
  }

  package init(_ scenario: Scenario, format: CaptureWriter.Format) {
    self.scenario = scenario
    writer = CaptureWriter(format: format)
    commands = scenario.format.isExtended ? .extended : .legacy
    end = microseconds(scenario.duration)
    controller = Controller(scenario.format)
    addSenders()
  }

  private mutating func addSenders() {
    let sensitivity = scenario.environment.sensitivity
    for beacon in scenario.beacons {
      for number in 0..<beacon.count {
        let sender = BeaconSender(beacon, number: number, in: scenario, stream: beacons.count)
        agenda.insert(Sending(time: sender.next, sender: beacons.count))
        marks += TruthMark.marks(
          of: sender.identity, on: sender.line, sender.path, sensitivity: sensitivity, end: end)
        if case .track = beacon.course { positions.append(beacons.count) }
        beacons.append(sender)
      }
    }
    for generator in scenario.clutter {
      for number in 0..<generator.count {
        let stream = beacons.count + clutter.count
        let sender = ClutterSender(generator, number: number, in: scenario, stream: stream)
        agenda.insert(Sending(time: sender.next, sender: stream))
        clutter.append(sender)
      }
    }
    marks.sort { $0.time < $1.time }
  }

  /// Appends about 64 KiB of the recording and its truth. Returns `false` at the end.
  package mutating func next(recording: inout [UInt8], truth: inout [UInt8]) -> Bool {
    guard !isEnded else { return false }
    let enough = recording.count + truth.count + 64 * 1024
    if !isStarted {
      isStarted = true
      writer.writeHeader(to: &recording)
      for (index, order) in commands.beginning.enumerated() {
        command(order, at: Int64(index) * 2_000, &recording)
      }
    }
    while recording.count + truth.count < enough {
      guard step(&recording, &truth) else {
        command(commands.enable(false), at: end, &recording)
        now = end
        isEnded = true
        return false
      }
    }
    return true
  }

  private mutating func step(_ recording: inout [UInt8], _ truth: inout [UInt8]) -> Bool {
    let mark = nextMark < marks.count ? marks[nextMark].time : .max
    let position = positions.isEmpty ? .max : nextPosition
    let packet = controller.next
    let send = agenda.min?.time ?? .max
    let time = min(mark, position, packet, send)
    guard time <= end else { return false }
    now = max(now, time)
    if time == mark {
      TruthLine.append(marks[nextMark], from: scenario.start, to: &truth)
      nextMark += 1
    } else if time == position {
      writePositions(&truth)
    } else if time == packet {
      if let packet = controller.removeNext() { write(packet, &recording, &truth) }
    } else if let next = agenda.popMin() {
      self.send(next.sender, at: next.time, &recording, &truth)
    }
    return true
  }

  private mutating func writePositions(_ truth: inout [UInt8]) {
    for index in positions {
      guard let distance = beacons[index].line.value(at: nextPosition) else { continue }
      let mark = TruthMark(
        beacon: beacons[index].identity, time: nextPosition, kind: .position, distance: distance)
      TruthLine.append(mark, from: scenario.start, to: &truth)
    }
    nextPosition += 1_000_000
  }

  private mutating func send(
    _ index: Int, at time: Int64, _ recording: inout [UInt8], _ truth: inout [UInt8]
  ) {
    let sensitivity = scenario.environment.sensitivity
    let output: ClutterSender.Output?
    if index < beacons.count {
      output = beacons[index].send(sensitivity: sensitivity).map { .report($0) }
      let next = beacons[index].next
      if next <= beacons[index].line.span.upperBound {
        agenda.insert(Sending(time: next, sender: index))
      }
    } else {
      output = clutter[index - beacons.count].send(sensitivity: sensitivity)
      agenda.insert(Sending(time: clutter[index - beacons.count].next, sender: index))
    }
    guard let output, time >= Self.scanStart else { return }
    switch output {
    case .report(let report):
      for packet in controller.receive(report, at: time) { write(packet, &recording, &truth) }
    case .command(let order): command(order, at: time, &recording)
    case .packet(let bytes, let reports):
      write(.init(time: time, bytes: bytes, reports: reports), &recording, &truth)
    }
  }

  private func write(
    _ packet: Controller.Packet, _ recording: inout [UInt8], _ truth: inout [UInt8]
  ) {
    writer.write(packet.bytes, at: moment(packet.time), to: &recording)
    for sighting in packet.reports.compactMap({ $0.sighting(at: moment(packet.time)) }) {
      Sighting.truth.appendLine(sighting, to: &truth)
    }
  }

  private func command(_ command: HCICommand, at time: Int64, _ recording: inout [UInt8]) {
    writer.write(command.packet, at: moment(time), isReceived: false, to: &recording)
    // The controller answers within the microsecond, so no packet comes between.
    writer.write(command.completion, at: moment(time), to: &recording)
  }

  private func moment(_ time: Int64) -> WallClockTime { scenario.start.advanced(by: time * 1000) }
}
