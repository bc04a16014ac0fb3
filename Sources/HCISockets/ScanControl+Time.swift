import HCIPackets
import Scanning

/// What time brings.
extension ScanControl {
  /// Lets time pass.
  mutating func advance(to now: MonotonicTime) {
    guard phase != .unusable, wanted != nil else { return }
    if let pending { missAnswer(to: pending.command, sent: pending.sent, at: now) }
    if case .waiting(let moment) = phase, moment <= now { start(at: now) }
    guard phase == .scanning || phase == .shared else { return }
    if pending == nil, queue.isEmpty, now >= probeDue(after: latestAnswer) {
      queue = [HCICommand(.readLocalVersion)]
      sendNext(at: now)
      if phase == .shared { needsCensus = true }
    }
    detectQuiet(at: now)
  }

  private func probeDue(after answer: MonotonicTime?) -> MonotonicTime {
    answer.map { $0.advanced(by: Self.probeInterval) } ?? MonotonicTime(nanoseconds: .min)
  }

  private mutating func missAnswer(
    to command: HCICommand, sent: MonotonicTime, at now: MonotonicTime
  ) {
    let waited = now.nanoseconds(since: sent)
    guard waited >= Self.answerLimit else { return }
    if condition != .hardwareError || waited >= Self.commandLife {
      // Adverts may come nevertheless.
      let receives = latestReport.map { $0 > sent } ?? false
      report(.notAnswering, since: sent, isReceptionLost: !receives)
    }
    guard waited >= Self.commandLife else { return }
    pending = nil
    // Whatever it was, its answer is what shows that the controller is back.
    if phase == .starting { phase = isOurs ? .scanning : .shared }
    queue = [HCICommand(.readLocalVersion)]
    sendNext(at: now)
  }

  /// Starts anew, as the controller answers again and may have lost the scan.
  mutating func restartAfterSilence(at now: MonotonicTime) {
    queue = []
    start(at: now)
  }

  private mutating func detectQuiet(at now: MonotonicTime) {
    guard let since = latestReport ?? began else { return }
    guard now.nanoseconds(since: since) >= quietTimeout, condition != .notAnswering else { return }
    if !isReceptionLost { report(.quiet, since: now) }
    guard pending == nil, now >= nextQuietRetry ?? now else { return }
    // Some controllers fall silent until the scan is started again. And the end of another program's scan
    // may have been missed: one that scans refuses parameters, and is not disturbed by that.
    if nextQuietRetry != nil { phase == .scanning ? start(at: now) : ask(at: now) }
    nextQuietRetry = now.advanced(by: quietRetry.next())
  }

  /// Asks whether another program's scan still runs.
  private mutating func ask(at now: MonotonicTime) {
    guard let commandSet, let wanted else { return }
    queue = [commandSet.set(wanted)]
    sendNext(at: now)
  }
}
