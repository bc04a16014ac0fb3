import Ranging
import Testing

/// The goals for a jump of 15 dB, as medians over trials with fixed seeds.
@Suite struct StepResponseTests {
  struct Goal: Sendable, CustomTestStringConvertible {
    var rate: Double
    var fading: Fading
    var half: Double
    var most: Double
    var still: Double
    var trials: Int
    var seconds: Double
    var testDescription: String { "\(rate) Hz, \(fading.name)" }
  }

  static let goals = [
    Goal(rate: 10, fading: .plain, half: 1.5, most: 3, still: 0.6, trials: 40, seconds: 60),
    Goal(rate: 5, fading: .indoor, half: 1.2, most: 3.7, still: 0.65, trials: 60, seconds: 60),
    Goal(rate: 1, fading: .plain, half: 3, most: 8, still: 1.25, trials: 60, seconds: 180),
  ]

  @Test(arguments: goals, [15.0, -15.0])
  func jump(goal: Goal, by decibels: Double) {
    let response = StepResponse(
      jump: decibels, rate: goal.rate, fading: goal.fading, trials: goal.trials,
      still: goal.seconds)
    #expect(quantile(0.5, of: response.half) <= goal.half, "\(response.summary)")
    #expect(quantile(0.5, of: response.most) <= goal.most, "\(response.summary)")
    #expect(response.stillDeviation <= goal.still, "\(response.summary)")
  }

  @Test(arguments: [15.0, -15.0])
  func slowBeaconFollowsWithinThreePackets(by decibels: Double) {
    let response = StepResponse(
      jump: decibels, rate: 0.1, fading: .plain, trials: 400, still: 1800, after: 150)
    #expect(quantile(0.5, of: response.half) <= 20, "\(response.summary)")
    #expect(quantile(0.5, of: response.most) <= 20, "\(response.summary)")
    #expect(response.stillDeviation <= 0.75, "\(response.summary)")
  }

  @Test func smallChangesAreFoundToo() {
    let response = StepResponse(jump: 6, rate: 10, fading: .plain, trials: 40, still: 30)
    #expect(quantile(0.5, of: response.half) <= 3, "\(response.summary)")
  }
}
