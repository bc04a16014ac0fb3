import FleetEngine
import Foundation

/// Counts the reports of each receiver, and makes a transition of each fifth one. Its body shows
/// whether all reports before were processed, each once and in order.
struct CountingProcessor: ShardProcessor {
  private struct Count {
    var last = 0
    var sum: UInt64 = 0
  }

  private struct Unreadable: Error {}

  private var counts: [String: Count] = [:]

  init(shard: Int, state: [UInt8]?, context: Void) throws {
    for line in String(decoding: state ?? [], as: UTF8.self).split(separator: "\n") {
      let parts = line.split(separator: " ")
      guard parts.count == 3, let last = Int(parts[1]), let sum = UInt64(parts[2]) else {
        throw Unreadable()
      }
      counts[String(parts[0])] = Count(last: last, sum: sum)
    }
  }

  mutating func process(_ report: [UInt8], routingKey: String) -> [FleetMessage] {
    let names = routingKey.split(separator: ".")
    let parts = String(decoding: report, as: UTF8.self).split(separator: " ")
    guard names.count == 5, parts.count == 2, let number = Int(parts[0]) else { return [] }
    let name = "\(names[2])/\(names[3])"
    var count = counts[name] ?? Count()
    guard number > count.last else { return [] }
    count.last = number
    count.sum = count.sum &* 31 &+ UInt64(number)
    counts[name] = count
    guard number % 5 == 0 else { return [] }
    return [
      FleetMessage(
        id: "\(name)/\(number / 5)", routingKey: "\(names[2]).\(names[3])",
        body: Array("\(count.sum) \(parts[1])".utf8))
    ]
  }

  func encodedState() -> [UInt8] {
    Array(counts.map { "\($0) \($1.last) \($1.sum)\n" }.joined().utf8)
  }
}
