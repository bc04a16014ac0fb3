public import CaptureFiles

/// A whole recording of a scenario in memory; for short scenarios. See ``Simulator`` for long ones.
public struct SimulatedRecording: Sendable {
  /// The capture file's bytes.
  public let recording: [UInt8]
  /// The truth's bytes, one JSON object a line.
  public let truth: [UInt8]
  /// How much it holds.
  public let counts: Simulator.Counts

  /// Simulates a scenario to its end.
  public init(_ scenario: Scenario, format: CaptureWriter.Format) {
    var simulator = Simulator(scenario, format: format)
    var recording: [UInt8] = []
    var truth: [UInt8] = []
    while simulator.next(recording: &recording, truth: &truth) {}
    self.recording = recording
    self.truth = truth
    counts = simulator.counts
  }
}
