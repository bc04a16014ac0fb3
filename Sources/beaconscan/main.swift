import CaptureFiles
import Scanning
import Advertising
let replay = try! CaptureReplay(paths: Array(CommandLine.arguments.dropFirst()))
var table = BeaconTable<(Int, Int)>(capacity: 65536)
do {
  loop: while true {
    switch try replay.nextBatch() {
    case .more, .caughtUp:
      for s in replay.sightings {
        let place = table.place(of: s.beacon, heardAt: s.time, orMake: { (0, 0) })
        table[place].0 += 1
        table[place].1 += Int(s.rssi ?? 0)
      }
    case .end: break loop
    }
  }
} catch { print(error) }
let c = replay.counts
print(c.packets, c.advertisingPackets, c.reports, c.sightings, table.entries.count, table.entries.reduce(0) { $0 + $1.state.1 })
for r in Refusal.allCases { print(r, c[r]) }
