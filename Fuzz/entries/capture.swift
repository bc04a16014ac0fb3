// Capture files: btsnoop, pcap, pcapng, gzip, and every link type behind them. Input: the file.

import CaptureFiles
import Scanning

func check(_ bytes: [UInt8]) {
  let whole = Reading(bytes)
  let isCompressed = bytes.starts(with: [0x1F, 0x8B])
  checkError(whole, bytes, isCompressed: isCompressed)
  for (before, after) in zip(whole.sightings, whole.sightings.dropFirst()) {
    require(before.time <= after.time, "time goes back")
  }
  if let sighting = whole.sightings.first {
    require(sighting.wallTime.description.utf8.count == 27, "a time not written in 27 bytes")
  }
  // Usual packets are decoded by a loop of their own; with a tap, all are decoded by the general one.
  let general = Reading(bytes, packetTap: { _, _, _, _ in })
  require(general == whole, "the general decoder gives \(general), the usual one \(whole)")
  let number = hash(bytes)
  let pieces = Reading(bytes, atATime: 1 + Int(number % 300))
  require(pieces == whole, "a pipe in pieces gives \(pieces), a file \(whole)")
  let cut = Reading(Array(bytes.prefix(Int(number >> 16) % (bytes.count + 1))))
  require(whole.sightings.starts(with: cut.sightings), "a prefix gave other sightings")
  require(cut.packets <= whole.packets && cut.reports <= whole.reports, "a prefix gave more")
  if number % 64 == 0 { checkReplay(bytes, whole) }
}

private func checkError(_ reading: Reading, _ bytes: [UInt8], isCompressed: Bool) {
  guard let error = reading.error else {
    return require(bytes.count >= 4, "\(bytes.count) bytes are a capture")
  }
  require(error.description.hasPrefix(error.file), "an error does not begin with its file")
  require(!error.description.contains("\n"), "an error of two lines")
  if let offset = error.offset, !isCompressed {
    require((0...bytes.count).contains(offset), "\(error) is outside of \(bytes.count) bytes")
  }
  switch error.problem {
  case .cutShort(_, let needed, let available):
    require(needed > available && available >= 0, "cut short with \(available) of \(needed)")
    if !isCompressed {
      require(error.offset.map { $0 + available } == bytes.count, "\(error): \(bytes.count) bytes")
    }
  case .empty: require(bytes.isEmpty || isCompressed, "empty with \(bytes.count) bytes")
  case .badGzip: require(isCompressed, "gzip that is none")
  case .cannotOpen, .cannotRead: require(false, "\(error)")
  case .notACapture, .unsupportedLinkType:
    require(reading.sightings.isEmpty, "sightings before \(error)")
  case .damaged: require(error.offset != nil, "damage without a place")
  }
}

/// The replay gives the same.
private func checkReplay(_ bytes: [UInt8], _ whole: Reading) {
  var sightings: [Sighting] = []
  var failure: CaptureError?
  do {
    let replay = try ReplayScanner(paths: [file(bytes)])
    var batch: [Sighting] = []
    var progress = ScanProgress()
    while !progress.isOver {
      progress = try replay.receive(for: .ranging, until: nil, into: &batch)
      sightings += batch
      if let last = batch.last {
        require(progress.reached.map { last.time <= $0 } == true, "given before its time")
      }
    }
    require(replay.counts.packets == whole.packets, "the replay counts other packets")
  } catch {
    failure = error as? CaptureError
  }
  require(sightings == whole.sightings, "the replay gives other sightings")
  require(failure?.problem == whole.error?.problem, "the replay fails by another problem")
}
