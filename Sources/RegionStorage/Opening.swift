import SystemPackage

/// How a store is opened: lock, marks, journal, in that order.
struct Opening: ~Copyable {
  let lock: StoreLock
  var journal: Journal
  var contents: Contents
  var marks: DeliveryMarks
  var remarks: [String]
  var droppedBytes: Int

  static func open(_ given: FilePath, _ isSynced: Bool) throws(StoreError) -> Opening {
    let path = Directory.resolve(given)
    guard path.lastComponent != nil else {
      throw StoreError(file: given.string, problem: .notAFile)
    }
    let lock = try StoreLock(for: path)
    var remarks: [String] = []
    let toldPath = path.beside(".told")
    let told = Directory.has(toldPath) ? try ToldFile(OpenFile(toldPath)) : ToldFile()
    if told.isDamaged {
      let aside = try setAside(toldPath, as: "damaged")
      remarks.append(
        "\(toldPath): it is damaged and was set aside as \(aside); events that were told before the "
          + "restart may be told again")
    }

    var outcome = JournalReader.Outcome()
    var sound: OpenFile?
    if Directory.has(path) {
      let file = try OpenFile(path)
      outcome = try JournalReader.read(file)
      if let newer = outcome.newer {
        let aside = try setAside(path, as: "newer")
        remarks.append(
          "\(path): it has version \(newer) of the format and this program knows up to "
            + "\(JournalLine.version); it was set aside as \(aside), and no region is known")
        outcome = JournalReader.Outcome()
      } else if let line = outcome.damage {
        let aside = try setAside(path, as: "damaged", keepingName: true)
        remarks.append(
          "\(path): line \(line) is damaged; the file was set aside as \(aside), and "
            + "\(outcome.contents.regions.count) regions that could be read were kept")
      } else if outcome.soundEnd > 0 {
        sound = consume file
      }
    }
    var contents = outcome.contents
    contents.issue(max(told.highest, outcome.delivered))
    contents.dropEvents { $0.serial <= outcome.delivered || told.isDelivered($0.serial) }
    if !told.isThere, !contents.events.isEmpty {
      remarks.append(
        "\(toldPath): it is missing; up to \(contents.events.count) events may be told again")
    }
    let waiting = contents.events.map(\.stored.serial)
    let marks = try DeliveryMarks(
      at: toldPath, after: told, open: waiting, issued: contents.issued)
    guard let file = sound.take() else {
      let journal = try Journal(
        at: path, contents: &contents, delivered: marks.allUpTo, isSynced: isSynced)
      return Opening(
        lock: lock, journal: journal, contents: contents, marks: marks, remarks: remarks,
        droppedBytes: 0)
    }
    let dropped = outcome.size - outcome.soundEnd
    if outcome.hasBadEnd {
      remarks.append(
        "\(path): its last \(dropped) bytes are damaged or were not all written; they were dropped, "
          + "and all before them is kept")
    }
    let journal = try Journal(
      file, length: outcome.soundEnd, size: outcome.size, lastCall: outcome.lastCall,
      isSynced: isSynced)
    return Opening(
      lock: lock, journal: journal, contents: contents, marks: marks, remarks: remarks,
      droppedBytes: dropped)
  }

  /// Gives a file a free name beside it: `FILE.damaged-1` and so on. The hundredth takes the place of
  /// the ninety-ninth. It also keeps its own, if asked, until another file takes that.
  private static func setAside(
    _ path: FilePath, as kind: String, keepingName keepsName: Bool = false
  ) throws(StoreError) -> FilePath {
    let most = 99
    let number = (1..<most).first { !Directory.has(path.beside(".\(kind)-\($0)")) } ?? most
    let aside = path.beside(".\(kind)-\(number)")
    guard keepsName else {
      try Directory.rename(path, to: aside)
      return aside
    }
    if number == most { Directory.remove(aside) }
    try Directory.link(path, to: aside)
    return aside
  }
}
