import Ranging

/// How a filter answers a jump of the signal, and how still it is before.
struct StepResponse {
  /// Seconds to half and to nine tenths of the jump, one per trial.
  var half: [Double] = []
  var most: [Double] = []
  /// The variance of the mean about its own average while nothing moves, one per trial, in dB².
  var variances: [Double] = []

  var stillDeviation: Double {
    (variances.reduce(0, +) / Double(variances.count)).squareRoot()
  }

  var summary: String {
    "half \(quantile(0.5, of: half)) s, 90 % \(quantile(0.5, of: most)) s,"
      + " still \(stillDeviation) dB"
  }

  /// Times that never come count as this many seconds.
  static let never = 1e6

  /// Measures.
  ///
  /// - Parameters:
  ///   - jump: The jump in dB; negative falls.
  ///   - rate: Packets a second, before loss.
  ///   - fading: What happens to the signal.
  ///   - trials: Runs with seeds of their own.
  ///   - still: Seconds before the jump; the first third of them is not judged.
  ///   - after: Seconds after it.
  init(
    jump: Double, rate: Double, fading: Fading, trials: Int, still: Double = 60, after: Double = 15
  ) {
    let before = -72.0
    for trial in 0..<trials {
      var radio = Radio(fading, seed: 1000 + UInt64(trial))
      var filter = RSSIFilter()
      var (sum, squares, number) = (0.0, 0.0, 0.0)
      var (toHalf, toMost) = (Self.never, Self.never)
      for index in 0..<Int((still + after) * rate) {
        let time = Double(index) / rate
        let moved = time >= still
        let mean = moved ? before + jump : before
        if let rssi = radio.packet(after: 1 / rate, mean: mean) {
          filter.update(rssi: rssi, at: nanoseconds(time))
        }
        let value = Double(filter.mean)
        if moved {
          let share = (value - before) / jump
          if share > 0.5 { toHalf = min(toHalf, time - still) }
          if share > 0.9 { toMost = min(toMost, time - still) }
        } else if time > still / 3 {
          sum += value
          squares += value * value
          number += 1
        }
      }
      half.append(toHalf)
      most.append(toMost)
      variances.append(squares / number - (sum / number) * (sum / number))
    }
  }
}
