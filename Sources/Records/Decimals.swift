/// Returns a number rounded to some decimals, without trailing zeros, independent of the locale.
package func decimal(_ value: Double, _ decimals: Int) -> String {
  let scale = (0..<decimals).reduce(1.0) { power, _ in power * 10 }
  let scaled = (value * scale).rounded()
  guard abs(scaled) < 9e15 else { return "\(value)" }
  let (whole, unit) = (Int64(scaled), Int64(scale))
  let text = (whole < 0 ? "-" : "") + String(abs(whole) / unit)
  var (fraction, digits) = (abs(whole) % unit, decimals)
  guard fraction > 0 else { return text }
  while fraction % 10 == 0 {
    fraction /= 10
    digits -= 1
  }
  let written = String(fraction)
  let zeros = String(repeating: "0", count: digits - written.utf8.count)
  return "\(text).\(zeros)\(written)"
}

package func fixed(_ value: Double, _ decimals: Int) -> String {
  let text = decimal(value, decimals)
  // A number too large for decimals may have an exponent.
  guard decimals > 0, !text.contains(where: \.isLetter) else { return text }
  let fraction = text.split(separator: ".").dropFirst().first?.count ?? 0
  let zeros = String(repeating: "0", count: max(0, decimals - fraction))
  return text + (fraction == 0 ? "." : "") + zeros
}

/// Returns a count with its noun: `1 beacon`, `2 beacons`, `2 fixes`.
package func counted(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
  "\(number) \(number == 1 ? noun : plural ?? noun + "s")"
}

package func fixed(_ value: Double?, _ decimals: Int, _ unit: String) -> String? {
  value.map { "\(fixed($0, decimals)) \(unit)" }
}
