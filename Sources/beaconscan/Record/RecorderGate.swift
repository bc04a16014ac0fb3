import CaptureFiles
import Dispatch
import Scanning
import Synchronization

/// Holds packets up until there is a recorder for them: the source is opened first, so that one that
/// cannot be opened leaves no empty recording.
final class RecorderGate: Sendable {
  private let recorder = Mutex<CaptureRecorder?>(nil)
  private let opened = DispatchSemaphore(value: 0)

  /// What a source hands its packets to.
  var tap: PacketTap {
    { [self] packet, time, isReceived, adapter in
      var recorder = recorder.withLock { $0 }
      while recorder == nil {
        opened.wait()
        recorder = self.recorder.withLock { $0 }
      }
      recorder?.record(packet, at: time, isReceived: isReceived, adapter: adapter)
    }
  }

  /// Lets packets through, to a recorder.
  func open(_ recorder: CaptureRecorder) {
    self.recorder.withLock { $0 = recorder }
    opened.signal()
  }
}
