/// The last signal strengths, as blocks on one line.
struct Sparkline {
  private var levels: [Int?] = []

  private static let width = 16
  private static let blocks: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
  private static let range = (weakest: -100, strongest: -40)

  mutating func add(_ rssi: Int?) {
    levels.append(rssi)
    if levels.count > Self.width { levels.removeFirst() }
  }

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
