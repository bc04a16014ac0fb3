/// The order of sending: a binary heap of senders by time, then by place.
struct Agenda {
  private var heap: [(time: Int64, sender: Int)] = []

  /// When the next sends.
  var next: Int64? { heap.first?.time }

  /// Adds the time at which a sender sends.
  mutating func add(_ sender: Int, at time: Int64) {
    heap.append((time, sender))
    var index = heap.count - 1
    while index > 0, heap[index] < heap[(index - 1) / 2] {
      heap.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  /// Removes and returns the next sender.
  mutating func removeFirst() -> (time: Int64, sender: Int)? {
    guard let first = heap.first, let last = heap.popLast() else { return nil }
    guard !heap.isEmpty else { return first }
    heap[0] = last
    var index = 0
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2] where child < heap.count {
        if heap[child] < heap[least] { least = child }
      }
      guard least != index else { return first }
      heap.swapAt(index, least)
      index = least
    }
  }
}
