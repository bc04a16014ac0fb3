package import Fusion

extension Site {
  /// A site of so many rooms, each 5 m by 4 m on both sides of a corridor of 2 m, with a receiver in
  /// the middle of the outer wall of each room.
  package init(planOf count: Int, name: String = "demo") {
    let columns = (count + 1) / 2
    let length = Double(columns) * 5
    func outline(_ left: Double, _ right: Double, _ low: Double, _ high: Double) -> [Point] {
      [Point(left, low), Point(right, low), Point(right, high), Point(left, high)]
    }
    var rooms = [Room("corridor", outline: outline(0, length, 4, 6), isEntrance: true)]
    var receivers: [Receiver] = []
    for number in 0..<count {
      let left = Double(number / 2) * 5
      let isLow = number % 2 == 0
      rooms.append(
        Room(
          "room \(number + 1)",
          outline: outline(left, left + 5, isLow ? 0 : 6, isLow ? 4 : 10)))
      receivers.append(
        Receiver("receiver-\(number + 1)", at: Point(left + 2.5, isLow ? 0.2 : 9.8)))
    }
    self.init(name, rooms: rooms, receivers: receivers)
  }

  /// The site file of this site, without what is as usual.
  package var toml: String {
    func quoted(_ text: String) -> String {
      "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
    func pair(_ point: Point) -> String { "[\(point.x), \(point.y)]" }
    var text = "name = \(quoted(name))\n"
    for room in rooms {
      text += "\n[[rooms]]\nname = \(quoted(room.name))\n"
      if !room.outline.isEmpty {
        text += "outline = [\(room.outline.map(pair).joined(separator: ", "))]\n"
      }
      if room.floor != 0 { text += "floor = \(room.floor)\n" }
      if room.isEntrance { text += "entrance = true\n" }
    }
    for receiver in receivers {
      text += "\n[[receivers]]\nname = \(quoted(receiver.name))\n"
      if let position = receiver.position { text += "at = \(pair(position))\n" }
      if let room = receiver.room { text += "room = \(quoted(room))\n" }
      if receiver.floor != 0 { text += "floor = \(receiver.floor)\n" }
      if receiver.height != 2 { text += "height = \(receiver.height)\n" }
    }
    return text
  }
}
