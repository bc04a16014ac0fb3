import Frontends
import Positioning
import Records
import Regions
import Scanning
import ServiceCore

final class MonitorOutput {
  let writer: any ResultWriter
  let commands: EventCommands?
  var events: MonitorEvents
  private(set) var entered: Set<String> = []
  private var left: Int

  init(
    _ writer: any ResultWriter, _ commands: EventCommands?, _ events: MonitorEvents, count: Int?
  ) {
    self.writer = writer
    self.commands = commands
    self.events = events
    left = count ?? .max
  }

  var isEnough: Bool { left <= 0 }

  func write(_ line: MonitorEvent) throws {
    try writer.write(line)
    if line.state == .inside { entered.insert(line.region) }
    commands?.run(on: HookEvent(line))
    if line.kind != .state { left -= 1 }
  }

  func receive(_ event: LocationEvent, from feed: LocationFeed) throws -> Verdict {
    switch event {
    case .circle(let event):
      try writeStates(at: event.wallClockTime, feed)
      if let line = events.line(of: event) { try write(line) }
    case .fixes(let fixes):
      if let first = fixes.first { try writeStates(at: first.timestamp, feed) }
    case .health(_, let time): if feed.isLive { try writeStates(at: time, feed) }
    default: break
    }
    return isEnough ? .enough : .more
  }

  func end(_ feed: LocationFeed, _ options: OutputOptions, to out: StandardOutput) throws {
    if feed.service.latestFix != nil { try writeStates(at: feed.now, feed) }
    if options.format == .json { try out.write(feed.summaries, TrackSummary.record, .json) }
  }

  /// Writes the circles' states at the start, once.
  private func writeStates(at time: WallClockTime, _ feed: LocationFeed) throws {
    for line in events.removeCircleStates(at: time) { try write(line) }
    if !feed.isLive { feed.client.stopUpdates() }
  }
}
