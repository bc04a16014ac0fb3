package import CaptureFiles
import Scanning

/// Makes the recording of a scenario and its truth, piece by piece, in memory that does not grow
/// with the scenario's length.
///
/// ```swift
/// var simulator = Simulator(try Scenario(json: bytes), format: .btsnoop)
/// var recording: [UInt8] = []
/// var truth: [UInt8] = []
/// while simulator.next(recording: &recording, truth: &truth) {
///   // Put both somewhere, and empty them.
/// }
/// ```
///
/// The same scenario gives the same bytes, whatever the machine and however they are fetched.
package struct Simulator {
  /// How much was made so far.
  package struct Counts: Hashable, Sendable {
    /// Packets of the recording.
    package internal(set) var packets = 0
    /// iBeacons that a correct decoder finds in it.
    package internal(set) var sightings = 0
  }

  /// What is simulated.
  package let scenario: Scenario
  /// How much was made so far.
  package private(set) var counts = Counts()
  /// How many seconds of the scenario are done.
  package var elapsed: Double { Double(now) / 1e6 }

  private let writer: CaptureWriter
  private let truthWriter: TruthWriter
  private let end: Int64
  private var now: Int64 = 0
  private var isStarted = false
  private var isEnded = false
  private var beacons: [BeaconSender] = []
  private var clutter: [ClutterSender] = []
  private var agenda = Agenda()
  private var controller: Controller
  private var marks: [TruthMark] = []
  private var nextMark = 0
  private var positions: [Int] = []
  private var nextPosition: Int64 = 0

  /// The start of the controller's reception, in microseconds.
  private static let scanStart: Int64 = 20_000

  /// Prepares a scenario.
  ///
  /// - Parameters:
  ///   - scenario: What to simulate.
  ///   - format: The recording's format.
  package init(_ scenario: Scenario, format: CaptureWriter.Format) {
    self.scenario = scenario
    writer = CaptureWriter(format: format)
    truthWriter = TruthWriter(start: scenario.start)
    end = microseconds(scenario.duration)
    controller = Controller(scenario.format)
    addSenders()
  }

  private mutating func addSenders() {
    let sensitivity = scenario.environment.sensitivity
    for beacon in scenario.beacons {
      for number in 0..<beacon.count {
        let sender = BeaconSender(beacon, number: number, in: scenario, stream: beacons.count)
        agenda.add(beacons.count, at: sender.next)
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
        agenda.add(stream, at: sender.next)
        clutter.append(sender)
      }
    }
    marks = marks.enumerated().sorted {
      ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
    }.map(\.element)
  }

  /// Appends about 64 KiB more of the recording and its truth.
  ///
  /// - Returns: Whether there is more to come.
  package mutating func next(recording: inout [UInt8], truth: inout [UInt8]) -> Bool {
    guard !isEnded else { return false }
    let enough = recording.count + truth.count + 64 * 1024
    if !isStarted { begin(&recording) }
    while recording.count + truth.count < enough {
      guard step(&recording, &truth) else {
        let stop = HostCommands.enable(false, isExtended: scenario.format.isExtended)
        command(stop, at: end, &recording)
        now = end
        isEnded = true
        return false
      }
    }
    return true
  }

  private mutating func begin(_ recording: inout [UInt8]) {
    isStarted = true
    writer.writeHeader(to: &recording)
    var time: Int64 = 0
    for order in HostCommands.beginning(isExtended: scenario.format.isExtended) {
      command(order, at: time, &recording)
      time += 2_000
    }
  }

  /// Lets the next thing happen; `false` at the end.
  private mutating func step(_ recording: inout [UInt8], _ truth: inout [UInt8]) -> Bool {
    let mark = nextMark < marks.count ? marks[nextMark].time : .max
    let position = positions.isEmpty ? .max : nextPosition
    let packet = controller.next
    let send = agenda.next ?? .max
    let time = min(mark, position, packet, send)
    guard time <= end else { return false }
    now = max(now, time)
    if time == mark {
      truthWriter.write(marks[nextMark], to: &truth)
      nextMark += 1
    } else if time == position {
      writePositions(&truth)
    } else if time == packet {
      if let packet = controller.removeNext() { write(packet, &recording, &truth) }
    } else if let (time, index) = agenda.removeFirst() {
      self.send(index, at: time, &recording, &truth)
    }
    return true
  }

  private mutating func writePositions(_ truth: inout [UInt8]) {
    for index in positions {
      guard let distance = beacons[index].line.value(at: nextPosition) else { continue }
      truthWriter.write(
        positionOf: beacons[index].identity, distance, at: nextPosition, to: &truth)
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
      if next <= beacons[index].line.span.upperBound { agenda.add(index, at: next) }
    } else {
      output = clutter[index - beacons.count].send(sensitivity: sensitivity)
      agenda.add(index, at: clutter[index - beacons.count].next)
    }
    guard let output, time >= Self.scanStart else { return }
    switch output {
    case .report(let report):
      for packet in controller.receive(report, at: time) { write(packet, &recording, &truth) }
    case .command(let opcode, let parameters): command((opcode, parameters), at: time, &recording)
    case .packet(let bytes, let sightings):
      write(.init(time: time, bytes: bytes, sightings: sightings), &recording, &truth)
    }
  }

  private mutating func write(
    _ packet: Controller.Packet, _ recording: inout [UInt8], _ truth: inout [UInt8]
  ) {
    writer.write(packet.bytes, at: moment(packet.time), to: &recording)
    counts.packets += 1
    for sighting in packet.sightings { truthWriter.write(sighting, at: packet.time, to: &truth) }
    counts.sightings += packet.sightings.count
  }

  private mutating func command(
    _ order: (opcode: UInt16, parameters: [UInt8]), at time: Int64, _ recording: inout [UInt8]
  ) {
    let packet = HostCommands.command(order.opcode, order.parameters)
    writer.write(packet, at: moment(time), isReceived: false, to: &recording)
    // The controller answers within the microsecond, so that nothing comes between.
    writer.write(HostCommands.complete(order.opcode), at: moment(time), to: &recording)
    counts.packets += 2
  }

  private func moment(_ time: Int64) -> WallClockTime { scenario.start.advanced(by: time * 1000) }
}
