/// A number with at most some decimals, without trailing zeros, in the same digits everywhere.
package func decimal(_ value: Double, _ decimals: Int) -> String {
  let scale = (0..<decimals).reduce(1.0) { power, _ in power * 10 }
  let scaled = (value * scale).rounded()
  guard abs(scaled) < 9e15 else { return "\(value)" }
  let whole = Int64(scaled)
  let unit = Int64(scale)
  var text = (whole < 0 ? "-" : "") + String(abs(whole) / unit)
  var fraction = String(abs(whole) % unit)
  guard fraction != "0" else { return text }
  fraction = String(repeating: "0", count: decimals - fraction.count) + fraction
  while fraction.last == "0" { fraction.removeLast() }
  text += "." + fraction
  return text
}

/// A number with exactly some decimals, for columns.
package func fixed(_ value: Double, _ decimals: Int) -> String {
  var text = decimal(value, decimals)
  guard decimals > 0 else { return text }
  let have = text.firstIndex(of: ".").map { text.distance(from: $0, to: text.endIndex) - 1 }
  if have == nil { text += "." }
  return text + String(repeating: "0", count: decimals - (have ?? 0))
}

/// A number with a unit behind it, for columns; `nil` where it is not known.
package func fixed(_ value: Double?, _ decimals: Int, _ unit: String) -> String? {
  value.map { "\(fixed($0, decimals)) \(unit)" }
}
