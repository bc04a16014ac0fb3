package import CaptureFiles

/// A whole recording of a scenario in memory; for short scenarios. See ``Simulator`` for long ones.
package struct SimulatedRecording: Sendable {
  package let recording: [UInt8]
  /// The truth's bytes, one JSON object a line.
  package let truth: [UInt8]
  package let counts: Simulator.Counts

  package init(_ scenario: Scenario, format: CaptureWriter.Format) {
    var simulator = Simulator(scenario, format: format)
    var recording: [UInt8] = []
    var truth: [UInt8] = []
    while simulator.next(recording: &recording, truth: &truth) {}
    self.recording = recording
    self.truth = truth
    counts = simulator.counts
  }
}
