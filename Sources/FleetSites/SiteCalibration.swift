internal import Advertising
package import Fusion
internal import RealModule

/// The offsets of a site's receivers, the exponent and the loss of walls, from what the receivers
/// receive of each other's own beacons.
///
/// The mean level of each pair of receivers is that of the law, with the offset of the one that
/// receives, the difference of the other one's power from what its beacon states, and shadowing. The
/// solution is that of least squares, where what the site file states counts as a weak observation
/// (ridge regression: Hoerl and Kennard, Technometrics 12, 1970). The mean of the offsets stays: what
/// all receivers have in common is not an offset of one above the others.
package struct SiteCalibration: Sendable {
  /// A receiver, and another one whose beacon it receives.
  package struct Pair: Sendable, Hashable {
    package var receiver: String
    package var transmitter: String
    /// The mean signal strength in dBm, and its difference from the law before and after, in dB.
    package var rssi: Double
    package var before: Double
    package var after: Double
  }

  package struct Solution: Sendable, Hashable {
    /// The site with the new offsets, exponent and loss of walls, rounded.
    package var site: Site
    package var pairs: [Pair]
  }

  /// A pair as numbers: indices of receivers, and the logarithm and walls of the way between them.
  private struct Equation {
    var receiver: Int
    var transmitter: Int
    var rssi: Double
    /// The difference from the law, in dB.
    var difference: Double
    var decades: Double
    var walls: Double
  }

  package static let minimumPairs = 3

  /// The standard deviations of what is not known: offsets and powers in dB, the exponent, and the
  /// loss of a wall in dB.
  private static let offsetDeviation = 10.0
  private static let powerDeviation = 4.0
  private static let exponentDeviation = 1.0
  private static let wallDeviation = 5.0
  private let site: Site
  /// The levels of the receivers' beacons, each of which is in a room with the receiver's name.
  private var survey: Survey

  package init(_ site: Site) {
    self.site = site
    survey = Survey(site)
  }

  package mutating func receive(_ report: ReceiverSecond) {
    for transmitter in site.receivers where transmitter.name != report.receiver {
      guard let beacon = transmitter.beacon else { continue }
      survey.receive(report, of: beacon, in: transmitter.name)
    }
  }

  /// The pairs with places. A level below the sensitivity is an estimate, and is left out.
  private var equations: [Equation] {
    let losses = SiteLosses(site)
    let law = site.propagation
    let indices = Dictionary(
      site.receivers.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    var equations: [Equation] = []
    for (from, transmitter) in site.receivers.enumerated() {
      for level in survey.levels(in: transmitter.name)
      where level.rssi > law.sensitivity {
        guard let to = indices[level.receiver], to != from,
          let path = losses.path(from: transmitter, to: site.receivers[to])
        else { continue }
        equations.append(
          Equation(
            receiver: to, transmitter: from, rssi: level.rssi,
            difference: level.rssi - law.measuredPower - site.receivers[to].offset
              + path.loss(law),
            decades: 10 * Double.log10(path.distance), walls: Double(path.walls)))
      }
    }
    return equations
  }

  /// The number of pairs with known places in which one receives the other well.
  package var pairs: Int { equations.count }

  /// The solution, or `nil` with fewer than ``minimumPairs``.
  package func solution() -> Solution? {
    let equations = equations
    guard equations.count >= Self.minimumPairs else { return nil }
    var unknowns = solve(equations, wallDeviation: Self.wallDeviation, wallLoss: 0)
    let wall = 2 * site.receivers.count + 1
    if site.propagation.wallLoss + unknowns[wall] < 0 {
      unknowns = solve(equations, wallDeviation: 0.001, wallLoss: -site.propagation.wallLoss)
    }
    let residuals = equations.map { equation in
      equation.difference
        - zip(row(equation), unknowns).reduce(0) { $0 + $1.0 * $1.1 }
    }
    let receivers = Set(equations.map(\.receiver))
    let common = receivers.reduce(0) { $0 + unknowns[$1] } / Double(receivers.count)
    var learned = site
    for index in receivers {
      let offset = learned.receivers[index].offset + unknowns[index] - common
      learned.receivers[index].offset = (max(-40, min(40, offset)) * 10).rounded() / 10
    }
    let exponent = max(1, min(6, learned.propagation.exponent + unknowns[wall - 1]))
    learned.propagation.exponent = (exponent * 100).rounded() / 100
    let wallLoss = max(0, min(60, learned.propagation.wallLoss + unknowns[wall]))
    learned.propagation.wallLoss = (wallLoss * 10).rounded() / 10
    return Solution(
      site: learned,
      pairs: zip(equations, residuals).map { equation, residual in
        Pair(
          receiver: site.receivers[equation.receiver].name,
          transmitter: site.receivers[equation.transmitter].name, rssi: equation.rssi,
          before: equation.difference, after: residual)
      })
  }

  /// The factors of the unknowns: the offsets, the powers, the exponent and the loss of a wall.
  private func row(_ equation: Equation) -> [Double] {
    let count = site.receivers.count
    var row = Array(repeating: 0.0, count: 2 * count + 2)
    row[equation.receiver] = 1
    row[count + equation.transmitter] = 1
    row[2 * count] = -equation.decades
    row[2 * count + 1] = -equation.walls
    return row
  }

  /// Returns the differences of the unknowns from the site file, where that of the wall's loss is
  /// expected to be `wallLoss`.
  private func solve(
    _ equations: [Equation], wallDeviation: Double, wallLoss: Double
  ) -> [Double] {
    let count = site.receivers.count
    var matrix = SquareMatrix(size: 2 * count + 2)
    var values = Array(repeating: 0.0, count: matrix.size)
    let deviations =
      Array(repeating: Self.offsetDeviation, count: count)
      + Array(repeating: Self.powerDeviation, count: count)
      + [Self.exponentDeviation, wallDeviation]
    for (index, deviation) in deviations.enumerated() {
      matrix[index, index] = 1 / (deviation * deviation)
    }
    values[matrix.size - 1] = wallLoss / (wallDeviation * wallDeviation)
    let shadowing = max(1, site.propagation.shadowing)
    let weight = 1 / (shadowing * shadowing)
    for equation in equations {
      let row = row(equation)
      let places = [
        equation.receiver, count + equation.transmitter, 2 * count, 2 * count + 1,
      ]
      for first in places {
        values[first] += weight * row[first] * equation.difference
        for second in places { matrix[first, second] += weight * row[first] * row[second] }
      }
    }
    return matrix.solution(values)
  }
}

/// A symmetric, positive definite matrix.
private struct SquareMatrix {
  let size: Int
  private var elements: [Double]

  init(size: Int) {
    self.size = size
    elements = Array(repeating: 0, count: size * size)
  }

  subscript(row: Int, column: Int) -> Double {
    get { elements[row * size + column] }
    set { elements[row * size + column] = newValue }
  }

  /// Returns the vector whose product with this matrix is a vector, by Cholesky's decomposition.
  func solution(_ vector: [Double]) -> [Double] {
    var lower = self
    var values = vector
    for row in 0..<size {
      for column in 0...row {
        var sum = self[row, column]
        for index in 0..<column { sum -= lower[row, index] * lower[column, index] }
        lower[row, column] = row == column ? sum.squareRoot() : sum / lower[column, column]
      }
      for index in 0..<row { values[row] -= lower[row, index] * values[index] }
      values[row] /= lower[row, row]
    }
    for row in (0..<size).reversed() {
      for index in row + 1..<size { values[row] -= lower[index, row] * values[index] }
      values[row] /= lower[row, row]
    }
    return values
  }
}
