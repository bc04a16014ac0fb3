import Scanning

struct ReportedState: Sendable {
  struct Change: Hashable, Sendable {
    var condition: ScannerHealth.Condition
    var time: MonotonicTime
    var isReceptionLost: Bool
    var detail: String?
  }

  private(set) var condition: ScannerHealth.Condition?
  private(set) var detail: String?
  private(set) var isReceptionLost = false
  private var changes: [Change] = []
  private var latestChange = MonotonicTime(nanoseconds: .min)
  private(set) var isToBeRestated = false

  mutating func removeChanges() -> [Change] {
    defer { changes = [] }
    return changes
  }

  mutating func report(
    _ condition: ScannerHealth.Condition, since time: MonotonicTime, detail: String? = nil,
    isReceptionLost: Bool? = nil
  ) {
    let isReceptionLost = isReceptionLost ?? condition.isFault
    guard
      condition != self.condition || isReceptionLost != self.isReceptionLost || isToBeRestated
    else { return }
    isToBeRestated = false
    self.condition = condition
    self.detail = detail
    self.isReceptionLost = isReceptionLost
    // A change that is noticed late does not begin before one that was noticed earlier.
    latestChange = max(latestChange, time)
    changes.append(
      Change(
        condition: condition, time: latestChange, isReceptionLost: isReceptionLost, detail: detail))
  }

  mutating func restate() {
    isToBeRestated = true
    changes = []
  }

  mutating func forget() {
    condition = nil
    detail = nil
  }
}
