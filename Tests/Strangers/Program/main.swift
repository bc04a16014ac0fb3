// Programs as their authors run them: with the process's own manager, and the main thread's run loop.
import CoreLocation
import StrangersSwift5
import StrangersSwift6

func line(_ items: Any...) { print(items.map { "\($0)" }.joined(separator: " ")) }

switch CommandLine.arguments.dropFirst().first {
case "run":
  // To the goal, and then it prints what a run's screen shows.
  let run = RunTracker(goal: 1000)
  run.onFinish = { run in
    line("run", Int(run.distance.rounded()), run.route.count, String(format: "%.1f", run.pace))
    line("main", Thread.isMainThread)
    exit(0)
  }
  line("enabled", CLLocationManager.locationServicesEnabled())
  line("circles", CLLocationManager.isMonitoringAvailable(for: CLCircularRegion.self))
  line("beacons", CLLocationManager.isRangingAvailable())
  line("compass", CLLocationManager.headingAvailable())
  line("significant", CLLocationManager.significantLocationChangeMonitoringAvailable())
  run.start()
  RunLoop.main.run()
case "hub":
  // The singleton, by Dispatch's main queue.
  LocationHub.shared.onStatus = { line("status", $0.rawValue) }
  LocationHub.shared.onLocation = { location in
    guard location.timestamp.timeIntervalSince1970 >= 1_767_225_660 else { return }
    line("location", location.sourceInformation?.isSimulatedBySoftware ?? false)
    LocationHub.shared.stop()
    exit(0)
  }
  LocationHub.shared.start()
  dispatchMain()
case "automatic":
  // The manager that is its own delegate.
  AutomaticManager.shared.onUpdate = { manager in
    guard manager.received.count == 5 else { return }
    manager.stopUpdatingLocation()
    line(manager.calls.joined(separator: ","))
    exit(0)
  }
  RunLoop.main.run()
case "live":
  let trip = LiveTrip()
  Task {
    try await trip.follow(until: 1000)
    let (meters, count) = (await trip.meters, await trip.count)
    line("live", Int(meters.rounded()), count)
    line(await trip.states.map(\.rawValue).joined(separator: ","))
    exit(0)
  }
  RunLoop.main.run()
case "watch":
  let watch = CircleWatch()
  let center = CLLocationCoordinate2D(latitude: 52.509, longitude: 13.4)
  Task {
    try await watch.watch([.init(name: "fair", center: center, radius: 200)], events: 2)
    line(await watch.diary.joined(separator: ","))
    exit(0)
  }
  dispatchMain()
default:
  line("which?")
  exit(2)
}
