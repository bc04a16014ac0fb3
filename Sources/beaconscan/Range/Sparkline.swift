/// The last signal strengths as one line of blocks, strong ones high.
struct Sparkline {
  private var levels: [Int?] = []

  private static let width = 16
  private static let blocks: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
  /// What the lowest and the highest block stand for, in dBm.
  private static let range = (weakest: -100, strongest: -40)

  /// Adds a signal strength in dBm; `nil` leaves a gap.
  mutating func add(_ rssi: Int?) {
    levels.append(rssi)
    if levels.count > Self.width { levels.removeFirst() }
  }

  /// The line, as wide as it can be.
  var text: String {
    let shown = levels.map { level -> Character in
      guard let level else { return " " }
      let (weakest, strongest) = Self.range
      let step = (level - weakest) * Self.blocks.count / (strongest - weakest)
      return Self.blocks[min(max(step, 0), Self.blocks.count - 1)]
    }
    return String(repeating: " ", count: Self.width - shown.count) + String(shown)
  }
}
