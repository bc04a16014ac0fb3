internal import RealModule

/// The normal distribution.
enum Normal {
  /// Returns the quantile of the standard normal distribution, to about seven digits, by Wichura's
  /// algorithm AS 241, PPND7 (Appl. Stat. 37, 1988).
  static func quantile(_ share: Double) -> Double {
    let centered = share - 0.5
    if centered.magnitude <= 0.425 {
      let r = 0.180625 - centered * centered
      let above = ((59.109374720 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179
      let below = ((67.187563600 * r + 78.757757664) * r + 17.895169469) * r + 1
      return centered * above / below
    }
    let tail = max(min(share, 1 - share), .leastNormalMagnitude)
    let root = (-Double.log(tail)).squareRoot()
    let value: Double
    if root <= 5 {
      let r = root - 1.6
      let above = ((0.17023821103 * r + 1.3067284816) * r + 2.7568153900) * r + 1.4234372777
      value = above / ((0.12021132975 * r + 0.73700164250) * r + 1)
    } else {
      let r = root - 5
      let above = ((0.017337203997 * r + 0.42868294337) * r + 3.0812263860) * r + 6.6579051150
      value = above / ((0.012258202635 * r + 0.24197894225) * r + 1)
    }
    return centered < 0 ? -value : value
  }
}
