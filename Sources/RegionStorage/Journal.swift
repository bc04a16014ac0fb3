import SystemPackage

/// The journal's file, at its end.
struct Journal: ~Copyable {
  /// The longest file that is written or read: 256 MiB.
  static let mostBytes = 256 << 20
  /// Below this length it is not worth writing anew.
  static let smallBytes = 65536

  let path: FilePath
  private let isSynced: Bool
  private var file: OpenFile
  /// Where the last whole call ends.
  private(set) var length: Int
  private var lastCall: UInt64
  /// An append failed, so that nobody knows what stands at the end.
  private(set) var isDoubtful = false
  /// How long it may become before it is written anew.
  private var nextRewrite = Journal.smallBytes

  /// Goes on behind the last whole call of a file, and cuts off what follows it.
  init(
    _ file: consuming OpenFile, length: Int, size: Int, lastCall: UInt64, isSynced: Bool
  ) throws(StoreError) {
    (path, self.length, self.lastCall, self.isSynced) = (file.path, length, lastCall, isSynced)
    if size > length {
      try file.cut(to: length)
      if isSynced { try file.sync() }
    }
    self.file = file
  }

  /// Makes a new file of what is to be kept, in place of the one of that name.
  init(
    at path: FilePath, contents: inout Contents, delivered: UInt64, isSynced: Bool
  ) throws(StoreError) {
    let written = try Self.write(contents, delivered, at: path, isSynced)
    if isSynced { try Directory.sync(path.removingLastComponent()) }
    (self.path, self.isSynced) = (path, isSynced)
    (length, lastCall, contents) = (written.length, written.lastCall, written.contents)
    file = written.file
  }

  /// Appends a call: all of it or nothing.
  ///
  /// - Returns: What each record takes, in bytes.
  mutating func append(_ records: [Record], delivered: UInt64) throws(StoreError) -> [Int] {
    var bytes: [UInt8] = []
    var sizes: [Int] = []
    for (index, record) in records.enumerated() {
      var form = LineForm(record, call: lastCall + 1)
      if records.count > 1 { (form.part, form.of) = (index + 1, records.count) }
      if index == 0, delivered > 0 { form.delivered = delivered }
      let line = try JournalLine.bytes(of: form, file: path.string)
      sizes.append(line.count)
      bytes += line
    }
    guard length + bytes.count <= Self.mostBytes else {
      throw StoreError(file: path.string, problem: .full)
    }
    do throws(StoreError) {
      try file.write(bytes, at: length)
      if isSynced { try file.syncData() }
    } catch {
      isDoubtful = true
      try? file.cut(to: length)
      throw error
    }
    length += bytes.count
    lastCall += 1
    return sizes
  }

  /// Whether most of the file is what no longer counts.
  func isWorthRewriting(for contents: Contents) -> Bool {
    length > nextRewrite && length > 2 * contents.liveBytes
  }

  /// Writes the file anew, with what is to be kept alone.
  mutating func rewrite(_ contents: inout Contents, delivered: UInt64) throws(StoreError) {
    // Should it fail, not with each call again.
    nextRewrite = 2 * length
    let written = try Self.write(contents, delivered, at: path, isSynced)
    file = written.file
    (length, lastCall, contents) = (written.length, written.lastCall, written.contents)
    isDoubtful = false
    nextRewrite = Self.smallBytes
    // Not before: an error must not leave us with a file that has no name any more.
    if isSynced { try Directory.sync(path.removingLastComponent()) }
  }
}

extension Journal {
  private struct Written: ~Copyable {
    var file: OpenFile
    var length: Int
    var lastCall: UInt64
    /// The same, with each record's bytes.
    var contents: Contents
  }

  /// Writes a whole file beside the one of that name and gives it the name.
  ///
  /// Who is killed meanwhile leaves the old file as it was, and at most a `.new` that the next one
  /// removes.
  private static func write(
    _ contents: Contents, _ delivered: UInt64, at path: FilePath, _ isSynced: Bool
  ) throws(StoreError) -> Written {
    let temporary = path.beside(".new")
    Directory.remove(temporary)
    var file = try OpenFile(temporary, options: [.create, .exclusiveCreate])
    do throws(StoreError) {
      var kept = Contents()
      var bytes = JournalLine.header()
      var (length, lastCall) = (0, UInt64(0))
      for record in contents.records {
        var form = LineForm(record, call: lastCall + 1)
        if lastCall == 0, delivered > 0 { form.delivered = delivered }
        let line = try JournalLine.bytes(of: form, file: path.string)
        lastCall += 1
        bytes += line
        kept.apply(record, bytes: line.count)
        guard bytes.count > 1 << 20 else { continue }
        try file.write(bytes, at: length)
        length += bytes.count
        bytes.removeAll(keepingCapacity: true)
      }
      try file.write(bytes, at: length)
      length += bytes.count
      if isSynced { try file.sync() }
      try Directory.rename(temporary, to: path)
      file.path = path
      return Written(file: file, length: length, lastCall: lastCall, contents: kept)
    } catch {
      Directory.remove(temporary)
      throw error
    }
  }
}

extension Contents {
  /// The fewest records that say all this.
  fileprivate var records: [Record] {
    var records: [Record] = authorization == nil ? [] : [.authorization(authorization)]
    records += regions.values.map { .put($0.stored) }
    records += events.map { .event($0.stored) }
    records.append(.issued(issued))
    return records
  }
}
