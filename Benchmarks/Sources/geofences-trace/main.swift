// Runs Positioning's circles on what Benchmarks/Studies/geofences.py writes to standard input, and
// prints what changed.
//
// Lines of input, each begins a new run with `run`:
//   run
//   circle IDENTIFIER LATITUDE LONGITUDE RADIUS
//   fix SECONDS LATITUDE LONGITUDE ACCURACY
//   time SECONDS
// Lines of output: `run`, then for each transition
//   SECONDS IDENTIFIER enter|exit|inside|outside RULE DISTANCE DWELL
// and at the end of a run `looks NUMBER`.
import Positioning
import Scanning

func time(_ text: Substring) -> MonotonicTime {
  MonotonicTime(nanoseconds: Int64(((Double(text) ?? 0) * 1e9).rounded()))
}

func place(_ latitude: Substring, _ longitude: Substring) -> Coordinate {
  guard let latitude = Double(latitude), let longitude = Double(longitude),
    let place = Coordinate(latitude: latitude, longitude: longitude)
  else { fatalError("no place: \(latitude) \(longitude)") }
  return place
}

func show(_ transitions: [GeofenceTransition]) {
  for transition in transitions {
    let name =
      switch transition.change {
      case .enter: "enter"
      case .exit: "exit"
      case .determined(let state): "\(state)"
      }
    let reason = transition.reason
    print(
      Double(transition.time.nanoseconds) * 1e-9, transition.region, name, reason.rule.rawValue,
      reason.distanceOutside, reason.dwell)
  }
}

var monitor: GeofenceMonitor?
while let line = readLine() {
  let words = line.split(separator: " ")
  switch words.first {
  case "run":
    if let monitor { print("looks", monitor.looks) }
    monitor = GeofenceMonitor()
    print("run")
  case "circle":
    try monitor?.add(
      CircularRegion(
        identifier: String(words[1]), center: place(words[2], words[3]),
        radius: Double(words[4]) ?? 0))
  case "fix":
    let now = time(words[1])
    show(
      monitor?.receive(
        Fix(
          time: now, timestamp: WallClockTime(nanoseconds: now.nanoseconds),
          place: place(words[2], words[3]), horizontalAccuracy: Double(words[4]) ?? -1)) ?? [])
  case "time": show(monitor?.advance(to: time(words[1])) ?? [])
  default: fatalError("no such line: \(line)")
  }
}
if let monitor { print("looks", monitor.looks) }
