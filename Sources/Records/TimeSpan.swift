/// Returns a duration in its two largest units: `42.5 s`, `12 min 05 s`, `3 h 07 min`, `4 d 02 h`.
package func timeSpan(_ seconds: Double) -> String {
  guard seconds >= 59.95 else { return fixed(seconds, 1) + " s" }
  guard seconds < 1e9 else { return "30 years or more" }
  let whole = Int(seconds.rounded())
  let (large, small, units) =
    switch whole {
    case ..<3600: (whole / 60, whole % 60, ("min", "s"))
    case ..<86400: (whole / 3600, whole % 3600 / 60, ("h", "min"))
    default: (whole / 86400, whole % 86400 / 3600, ("d", "h"))
    }
  return "\(large) \(units.0) \(small < 10 ? "0" : "")\(small) \(units.1)"
}

/// Returns a bar chart of one line, scaled to the largest value or to `full`.
package func blocks(_ values: [Double], full: Double? = nil, empty: Character = "·") -> String {
  // `▂` is missing because its ASCII form is that of `·`.
  let characters: [Character] = ["▁", "▃", "▄", "▅", "▆", "▇", "█"]
  let largest = full ?? values.max() ?? 0
  return String(
    values.map { value in
      guard value > 0, largest > 0 else { return empty }
      // Only a full value gets the full block.
      let step = Int((value / largest * Double(characters.count - 1)).rounded(.down))
      return characters[min(max(step, 0), characters.count - 1)]
    })
}
