import Regions

extension RegionStore.State {
  /// Appends a call to the journal, then takes it.
  mutating func commit(
    _ records: [Record], _ marks: DeliveryMarks, issuing serials: [UInt64] = []
  ) throws(StoreError) {
    guard !records.isEmpty else { return }
    // An append failed: what stands at the end must go before anything follows it.
    if journal.isDoubtful { try rewrite(marks) }
    let sizes = try journal.append(records, delivered: marks.allUpTo)
    marks.issue(serials)
    for (record, size) in zip(records, sizes) {
      let dropped = contents.apply(record, bytes: size) ?? []
      if !dropped.isEmpty { marks.mark(dropped) }
    }
    tidy(marks)
  }

  /// Keeps memory and file small. What fails here is tried again later.
  private mutating func tidy(_ marks: DeliveryMarks) {
    // Not with each call, should many wait.
    if contents.events.count > 64 + 2 * marks.openCount {
      contents.forgetEvents(but: marks.open)
    }
    var isCoalesced = false
    if contents.events.count > contents.mostEvents {
      // The journal still has them, so the marks must say that they are over.
      marks.mark(contents.coalesce())
      isCoalesced = true
    }
    guard isCoalesced || journal.isWorthRewriting(for: contents) else { return }
    do throws(StoreError) {
      try rewrite(marks)
    } catch {
      remark("\(error) (all is kept in the old file, which grows)")
    }
  }

  private mutating func rewrite(_ marks: DeliveryMarks) throws(StoreError) {
    contents.forgetEvents(but: marks.open)
    try journal.rewrite(&contents, delivered: marks.allUpTo)
  }

  private mutating func remark(_ sentence: String) {
    if remarks.count < 64, remarks.last != sentence { remarks.append(sentence) }
  }
}

extension Contents {
  /// Forgets events that do not wait any more.
  mutating func forgetEvents(but open: [UInt64]) {
    guard !events.isEmpty else { return }
    dropEvents { event in
      let place = open.place(of: event.serial)
      return place == open.count || open[place] != event.serial
    }
  }
}

extension StoredRegion {
  /// As it will be read back.
  var storable: StoredRegion {
    var region = self
    region.silenceLimit = silenceLimit?.finite
    return region
  }
}
