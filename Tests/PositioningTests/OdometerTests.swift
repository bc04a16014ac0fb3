import TestSupport
import Testing

@testable import Positioning

@Suite struct OdometerTests {
  @Test(arguments: [30, 200, 5000] as [Double])
  func noMarginIsUsedUpBeforeItsReading(step: Double) {
    var random = SplitMix64(seed: UInt64(step))
    let plane = Plane()
    var odometer = Odometer()
    var point = SIMD2<Double>.zero
    var marks: [(point: SIMD2<Double>, margin: Double, key: Double)] = []
    for _ in 0..<400 {
      point += step * SIMD2(random.normal(), random.normal())
      odometer.move(to: plane.place(point))
      for mark in marks where odometer.reading < mark.key - 1 {
        let moved = plane.place(mark.point).distance(to: plane.place(point))
        #expect(moved < mark.margin)
      }
      let margin = random.uniform(0, 20 * step)
      marks.append((point, margin, odometer.key(margin: margin)))
    }
  }

  @Test func jitterAddsNothing() {
    var jitter = Jitter(seed: 3, deviation: 20, correlation: 0)
    let plane = Plane()
    var odometer = Odometer()
    for _ in 0..<1000 { odometer.move(to: plane.place(jitter.next(after: 1))) }
    #expect(odometer.reading < 150)
  }
}
