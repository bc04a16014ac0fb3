/// An input as lines of text. In them, `#` is a number that counts or that the entry sets, and `~` stands for 65,536 letters, at most 20 times.
///
/// A line `@` with a letter and a number is a step for the entry: `@s30`.
struct Script {
  enum Step {
    case line([UInt8])
    /// A letter, and a number that is 0 if there is none.
    case command(UInt8, Int)
  }

  private let lines: [ArraySlice<UInt8>]
  private var next = 0
  private var count: UInt64 = 0
  /// The value of `#`, in place of a count.
  var number: UInt64?
  /// The step that comes next once more.
  private var returned: Step?
  /// The lines and bytes that are still made, so that no input takes long.
  private var linesLeft = 1200
  private var bytesLeft = 8 << 20
  /// The line that is repeated, and how many times more.
  private var repeated: (line: ArraySlice<UInt8>, count: Int)?

  init(_ bytes: some Collection<UInt8>) {
    lines =
      bytes.isEmpty
      ? [] : Array(bytes).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
  }

  /// Returns the next step; `nil` at the end. `@r` with a number repeats the line before it.
  mutating func step() -> Step? {
    if let step = returned.take() { return step }
    while linesLeft > 0, bytesLeft > 0 {
      if let (line, left) = repeated, left > 0 {
        repeated = (line, left - 1)
        return .line(expanded(line))
      }
      guard next < lines.count else { return nil }
      let line = lines[next]
      next += 1
      guard line.first == UInt8(ascii: "@"), line.count > 1 else {
        repeated = (line, 0)
        return .line(expanded(line))
      }
      let digits = line.dropFirst(2).prefix(4).map { Int($0) - Int(UInt8(ascii: "0")) }
      let number = digits.prefix { 0...9 ~= $0 }.reduce(0) { $0 * 10 + $1 }
      let letter = line[line.startIndex + 1]
      guard letter == UInt8(ascii: "r") else { return .command(letter, number) }
      repeated?.count = number
    }
    return nil
  }

  /// Takes a step back, which is the next one again.
  mutating func putBack(_ step: Step) { returned = step }

  private mutating func expanded(_ line: ArraySlice<UInt8>) -> [UInt8] {
    count += 1
    linesLeft -= 1
    guard line.contains(where: { [UInt8(ascii: "#"), UInt8(ascii: "~")].contains($0) }) else {
      return Array(line)
    }
    var expanded: [UInt8] = []
    var letters = 0
    for byte in line {
      switch byte {
      case UInt8(ascii: "#"): expanded += "\(number ?? count)".utf8
      case UInt8(ascii: "~"):
        letters += 1
        if letters <= 20 { expanded += [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 16) }
      default: expanded.append(byte)
      }
    }
    bytesLeft -= expanded.count
    return expanded
  }
}
