import AppTestSupport
import CaptureFiles
import Dispatch
import Foundation
import LocationSources
import Positioning
import Scanning
import ServiceCore
import Synchronization
import TestSupport
import Testing

@testable import CoreLocation
@testable import StrangersSwift5
@testable import StrangersSwift6

/// Programs for locations that were written for Apple's framework, run on recorded tracks.
///
/// They run on the main actor: the replay waits for their delegates, so every test has the same calls each time.
@MainActor @Suite struct StrangersLocationTests {
  /// Grants what is requested, or grants it anyway.
  final class Administrator: AuthorizationProvider {
    let rule: AuthorizationRule

    init(_ rule: AuthorizationRule) { self.rule = rule }

    func rule(for application: String, scanner: ScannerAvailability) -> AuthorizationRule { rule }
  }

  /// Plays a track to its end.
  final class Player: CLLocationManagerDelegate {
    var count = 0

    func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
      count += locations.count
    }
  }

  let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private func services(
    _ text: String, _ name: String = "track.gpx", _ rule: AuthorizationRule = .onRequest
  ) throws -> LocationServices {
    try scratch.write(Array(text.utf8), name)
    return services(try .tracks([scratch[name]], speed: .max), rule)
  }

  private func services(
    _ source: LocationServices.PositionSource, _ rule: AuthorizationRule
  ) -> LocationServices {
    var configuration = LocationServices.Configuration()
    configuration.locationSource = source
    configuration.authorization = Administrator(rule)
    configuration.persistence = .none
    return LocationServices.tested(configuration)
  }

  /// Plays the rest of the track, so that what a program stopped would come now.
  private func playOn(_ services: LocationServices) async throws {
    let manager = CLLocationManager(services: services)
    let player = Player()
    manager.delegate = player
    manager.startUpdatingLocation()
    try await services.ended()
    withExtendedLifetime((manager, player)) {}
  }

  private func second(_ location: CLLocation) -> Int {
    Int(location.timestamp.timeIntervalSince(Route.start).rounded())
  }

  private func isClose(_ value: Double, _ truth: Double, _ share: Double = 0.01) -> Bool {
    abs(value - truth) <= share * abs(truth)
  }

  // MARK: Updates

  @Test func `a singleton has its permission, then its locations`() async throws {
    var route = Route()
    route.go(300, at: 3)
    let services = try services(route.gpx)
    let hub = LocationHub(manager: CLLocationManager(services: services))
    var lines: [String] = []
    hub.onStatus = { lines.append("status \($0.rawValue)") }
    hub.onLocation = { [self] in lines.append("at \(second($0))") }
    hub.onError = { lines.append("error \($0.rawValue)") }
    hub.start()
    try await services.ended()
    // Every 10 m, at 3 m a second.
    let places = stride(from: 0, through: 100, by: 4).map { "at \($0)" }
    #expect(Array(lines.drop { $0.hasPrefix("status") }) == places)
    #expect(lines.first { !$0.hasPrefix("at") } != nil)
    #expect(lines.last { $0.hasPrefix("status") } == "status 4")
    #expect(hub.lastLocation.map(second) == 100)
    #expect(hub.lastLocation?.sourceInformation?.isSimulatedBySoftware == true)
  }

  @Test(arguments: ["track.gpx", "track.nmea"])
  func `a run has its distance, splits and pace`(name: String) async throws {
    var route = Route()
    route.go(2000, at: 3)
    route.go(1500, toward: 90, at: 3)
    route.go(1900, toward: 180, at: 3)
    if name == "track.gpx" {
      route.spoil(every: 60) { ($0.east, $0.accuracy) = ($0.east + 80, 80) }
    }
    let services = try services(name == "track.gpx" ? route.gpx : route.nmea, name)
    let run = RunTracker(manager: CLLocationManager(services: services), goal: 5000)
    var hasFinished = false
    run.onFinish = { _ in hasFinished = true }
    run.start()
    await eventually { hasFinished }
    #expect(isClose(run.distance, 5000))
    #expect(run.splits.map(\.number) == [1, 2, 3, 4, 5])
    #expect(run.splits.allSatisfy { abs($0.seconds - 1000 / 3) < 5 })
    #expect(isClose(run.pace, 1000.0 / 3 / 60))
    #expect(run.fastest < 4)
    #expect(run.rejected == (name == "track.gpx" ? run.route.count / 59 : 0))
    let count = run.route.count
    try await playOn(services)
    #expect(run.route.count == count, "it was stopped")
  }

  @Test func `old, coarse and impossible locations are refused`() async throws {
    var route = Route()
    route.go(198, at: 2)
    route.spoil(every: 10) { $0.accuracy = 200 }
    route.spoil(50) { $0.east += 5000 }
    let services = try services(route.gpx)
    let manager = CLLocationManager(services: services)
    let fresh = FreshLocations(manager: manager) {
      manager.location?.timestamp ?? .distantPast
    }
    // A recording has its own time: by the clock on the wall everything in it is old.
    let other = FreshLocations(manager: CLLocationManager(services: services))
    try await services.ended()
    #expect(fresh.accepted.count == 89 && fresh.refused == 11)
    #expect(!fresh.accepted.contains { second($0) == 50 })
    #expect(other.accepted.isEmpty && other.refused == 100)
  }

  @Test func `the delegate of former times has the location before`() async throws {
    var route = Route()
    route.go(300, at: 3)
    let services = try services(route.gpx)
    let tracker = ClassicTracker(manager: CLLocationManager(services: services))
    try await services.ended()
    #expect(tracker.statuses == [.notDetermined, .authorizedAlways])
    #expect(tracker.updates == 12, "every 27 m")
    #expect(isClose(tracker.total, 297))
  }

  @Test func `updates pause, and a circle sees the car leave`() async throws {
    var route = Route()
    route.go(3000, at: 15)
    route.stay(1800)
    route.go(3000, at: 15)
    let services = try services(route.gpx)
    let car = ParkedCar(manager: CLLocationManager(services: services))
    try await services.ended()
    #expect(car.diary == ["paused", "inside", "resumed", "left"])
    let place = try #require(car.place)
    let corner = CLLocation(latitude: 52.5 + 3000 / 111_276.8, longitude: 13.4)
    #expect(place.distance(from: corner) < 10)
    #expect(CLLocationManager(services: services).locations.circles.isEmpty)
  }

  @Test func `each deferral ends once, and no location is lost`() async throws {
    var route = Route()
    route.go(3000, at: 1.5)
    let services = try services(route.gpx)
    let workout = DeferredWorkout(manager: CLLocationManager(services: services))
    try await services.ended()
    #expect(workout.locations.map(second) == Array(0...2000))
    #expect(workout.ends.count == workout.requests)
    #expect(workout.requests == 6)
    #expect(workout.ends.dropLast().allSatisfy { $0 == nil })
    let long = workout.batches.filter { $0 > 1 }
    #expect(long.count == 6 && long.dropLast().allSatisfy { (330...337).contains($0) })
  }

  @Test func `a thread of its own has its calls`() async throws {
    var route = Route()
    route.go(300, at: 3)
    let services = try services(route.gpx)
    let recorder = BackgroundRecorder { @Sendable in CLLocationManager(services: services) }
    try await services.ended()
    #expect(recorder.locations.map(second) == Array(0...100))
    #expect(recorder.strayCalls == 0)
    recorder.thread.cancel()
    await eventually { recorder.thread.isFinished }
  }

  @Test func `a provider is the manager or a played list`() async throws {
    var route = Route()
    route.go(600, at: 5)
    let services = try services(route.gpx)
    let recorder = TrackRecorder(manager: CLLocationManager(services: services))
    let target = CLLocation(latitude: 52.5 + 500 / 111_276.8, longitude: 13.4)
    let left = DistanceLeft(to: target, provider: CLLocationManager(services: services))
    try await services.ended()
    #expect(recorder.locations.count == 121)
    #expect(left.distances.count == 92, "until it is 45 m")
    #expect(zip(left.distances, 0...).allSatisfy { abs($0 - (500 - 5 * Double($1))) < 1 })
    let played = DistanceLeft(to: target, provider: PlayedManager(recorder.locations))
    #expect(Array(played.distances.prefix(92)) == left.distances)
  }

  // MARK: One location

  @Test func `a request has one answer for all who ask`() async throws {
    var route = Route()
    route.go(100, at: 1)
    route.spoil(0) { $0.accuracy = 300 }
    route.spoil(1) { $0.accuracy = 200 }
    let services = try services(route.gpx)
    let locator = OneShotLocator(manager: CLLocationManager(services: services))
    var answers: [String] = []
    func note(_ name: String, _ result: Result<CLLocation, any Error>) {
      switch result {
      case .success(let location): answers.append("\(name) \(second(location))")
      case .failure(let error):
        answers.append("\(name) failed \((error as? CLError)?.code.rawValue ?? -1)")
      }
    }
    locator.locate { result in
      note("a", result)
      locator.locate { note("c", $0) }
    }
    locator.locate { note("b", $0) }
    await eventually { answers.count == 3 }
    // The one that is asked for in an answer is the next.
    #expect(answers == ["a 2", "b 2", "c 3"])
    try await playOn(services)
    #expect(locator.calls == 2)
    locator.locate { note("d", $0) }
    await eventually { answers.count == 4 }
    #expect(answers.last == "d failed 0")
    #expect(locator.calls == 3)
  }

  @Test func `who stops in the first call has no second one`() async throws {
    var route = Route()
    route.go(100, at: 1)
    let services = try services(route.gpx)
    let first = FirstLocation()
    var found: CLLocation?
    first.find(with: CLLocationManager(services: services)) { found = $0 }
    await eventually { found != nil }
    try await playOn(services)
    #expect(first.calls == 1 && found.map(second) == 0)
  }

  @Test func `a request is awaited`() async throws {
    var route = Route()
    route.go(100, at: 1)
    route.spoil(0) { $0.accuracy = 300 }
    let services = try services(route.gpx)
    let current = CurrentLocation(manager: CLLocationManager(services: services))
    let (first, second) = (try await current.current, try await current.current)
    #expect(self.second(first) == 1 && self.second(second) == 2)
    #expect(current.answers == 2)
    let old = LocationRequest(manager: CLLocationManager(services: services))
    let coordinate = try await old.requestLocation()
    #expect(coordinate.map { abs($0.latitude - 52.5) < 0.001 } == true)
    try await playOn(services)
    await #expect {
      try await current.current
    } throws: {
      ($0 as? CLError)?.code == .locationUnknown
    }
    #expect(current.answers == 3)
  }

  // MARK: Places

  @Test func `of sixty geofences the nearest twenty are monitored`() async throws {
    let shops = (0..<60).map { index in
      Shop(
        name: "\(index)",
        center: CLLocationCoordinate2D(
          latitude: 52.5 + Double(600 + 400 * index) / 111_276.8, longitude: 13.4))
    }
    var route = Route()
    route.go(25_000, at: 12.5)
    let services = try services(route.gpx)
    let fences = NearestGeofences(shops: shops, manager: CLLocationManager(services: services))
    fences.start()
    try await services.ended()
    #expect(fences.diary == (0..<60).flatMap { ["in shop.\($0)", "out shop.\($0)"] })
    #expect(fences.mostMonitored == 20)
    #expect(fences.exchanges == 40)
  }

  @Test func `significant changes are logged and read again`() async throws {
    var route = Route()
    route.go(36_000, toward: 90, at: 20)
    let services = try services(route.gpx)
    let file = scratch.folder.appending(path: "log.json")
    let logger = SignificantLogger(file: file, manager: CLLocationManager(services: services))
    logger.start()
    try await services.ended()
    let log = try logger.read()
    let seconds = log.map { $0.date.timeIntervalSince(Route.start) }
    // When the five minutes are over, it is the newest location of before.
    #expect(seconds == [0, 299, 599, 899, 1199, 1499, 1799])
    #expect(isClose(log.map(\.location).length, 35_980))
    #expect(log.allSatisfy { $0.accuracy == 5 && $0.altitude == nil })
  }

  @Test func `two stays are two visits`() async throws {
    var route = Route()
    route.go(600, at: 1.4)
    let first = route.points.last?.second ?? 0
    route.stay(1200)
    let firstEnd = route.points.last?.second ?? 0
    route.go(1000, toward: 60, at: 1.4)
    let second = route.points.last?.second ?? 0
    route.stay(1800)
    let secondEnd = route.points.last?.second ?? 0
    route.go(700, at: 1.4)
    let services = try services(route.gpx)
    let diary = VisitDiary(manager: CLLocationManager(services: services))
    try await services.ended()
    #expect(diary.calls == ["arrived", "left", "arrived", "left"])
    try #require(diary.entries.count == 2)
    for (entry, truth) in zip(diary.entries, [(first, firstEnd), (second, secondEnd)]) {
      let arrival = try #require(entry.arrival).timeIntervalSince(Route.start)
      let departure = try #require(entry.departure).timeIntervalSince(Route.start)
      #expect(abs(arrival - Double(truth.0)) < 120 && abs(departure - Double(truth.1)) < 120)
      #expect(abs(try #require(entry.duration) - Double(truth.1 - truth.0)) < 180)
    }
    let home = CLLocation(latitude: 52.5 + 600 / 111_276.8, longitude: 13.4)
    let place = diary.entries[0].coordinate
    let found = CLLocation(latitude: place.latitude, longitude: place.longitude)
    #expect(home.distance(from: found) < 30)
    // The same program with a visit that somebody made up.
    let visit = FakeVisit(coordinates: place, arrivalDate: .distantPast)
    diary.locationManager(CLLocationManager(services: services), didVisit: visit)
    #expect(diary.calls.last == "arrived" && diary.entries.last?.arrival == nil)
  }

  /// A track that begins when the test says.
  private final class HeldTrack: LocationSource {
    let track: TrackReplay
    private let isHeld = Atomic<Bool>(true)

    init(_ track: TrackReplay) { self.track = track }

    var name: String { track.name }
    var isRecorded: Bool { true }
    var availability: ScannerAvailability { track.availability }

    func begin() { isHeld.store(false, ordering: .releasing) }

    func receive(
      for demand: LocationDemand, until deadline: MonotonicTime?,
      into inputs: inout [PositionInput]
    ) throws -> LocationProgress {
      while isHeld.load(ordering: .acquiring) { usleep(1000) }
      return try track.receive(for: demand, until: deadline, into: &inputs)
    }

    func wake() { track.wake() }
    func rest() { track.rest() }
  }

  @Test func `a monitor's circles are entered and left in order`() async throws {
    var route = Route()
    route.go(4000, at: 2)
    try scratch.write(Array(route.gpx.utf8), "track.gpx")
    let track = HeldTrack(try TrackReplay(paths: [scratch["track.gpx"]], speed: .max))
    let services = services(.init(track), .granted(.authorizedAlways))
    let watch = CircleWatch { CLMonitor("watch", services: services) }
    // A track does not wait for circles that are added later.
    Task {
      let other = CLMonitor("watch", services: services)
      defer { track.begin() }
      let end = ContinuousClock.now + .seconds(120)
      while await other.identifiers.count < 2, .now < end {
        try await Task.sleep(for: .milliseconds(5))
      }
    }
    func place(_ name: String, _ meters: Double) -> CircleWatch.Place {
      let center = CLLocationCoordinate2D(latitude: 52.5 + meters / 111_276.8, longitude: 13.4)
      return CircleWatch.Place(name: name, center: center, radius: 250)
    }
    try await watch.watch([place("fair", 1000), place("school", 2500)], events: 4)
    #expect(await watch.diary == ["in fair", "out fair", "in school", "out school"])
    #expect(await watch.radius(of: "school") == 250)
  }

  // MARK: Heading

  @Test func `a compass turns with the device, and knows true north with locations`() async throws {
    var route = Route()
    route.go(40, at: 1)
    let services = try services(route.gpsd(turning: 9), "drive.json")
    #expect(services.findsHeadings)
    let rose = CompassRose(manager: CLLocationManager(services: services))
    let turned = CompassRose(manager: CLLocationManager(services: services))
    turned.rotate(to: .landscapeLeft)
    rose.show(withLocation: true)
    turned.show(withLocation: false)
    try await services.ended()
    #expect(rose.readings.count == 41 && turned.readings.count >= 41)
    // Berlin in 2026: 4.6 to 5.6 degrees east.
    let geographic = rose.readings.filter(\.isTrue)
    #expect(geographic.count >= 40)
    for (reading, index) in zip(rose.readings, 0...) where reading.isTrue {
      let east = (reading.degrees - Double(index * 9)).remainder(dividingBy: 360)
      #expect((4.0...6.0).contains(east))
    }
    let last = try #require(turned.readings.last)
    #expect(last.isTrue && CompassRose.name(last.degrees) == "E", "true north is there for all")
    #expect(rose.questions == 0)
  }

  // MARK: Values

  @Test func `a recorded track survives its archives`() async throws {
    var route = Route()
    route.go(150, toward: 45, at: 3)
    let services = try services(route.gpx)
    let recorder = TrackRecorder(manager: CLLocationManager(services: services))
    try await services.ended()
    let track = RecordedTrack(name: "walk", locations: recorder.locations)
    let file = scratch.folder.appending(path: "walk.archive")
    try track.write(to: file)
    let read = try #require(try RecordedTrack.read(from: file))
    #expect(read.name == "walk" && read.locations.count == 51)
    let archived = try JSONDecoder().decode(
      [ArchivedLocation].self,
      from: JSONEncoder().encode(recorder.locations.map { ArchivedLocation($0) }))
    for copies in [read.locations, archived.map(\.location)] {
      for (copy, original) in zip(copies, recorder.locations) {
        #expect(copy.distance(from: original) == 0 && copy.timestamp == original.timestamp)
        #expect(copy.speed == original.speed && copy.course == original.course)
        #expect(copy.horizontalAccuracy == 5 && copy.altitude == original.altitude)
        #expect(copy.sourceInformation?.isSimulatedBySoftware == true)
      }
    }
  }

  @Test func `bearings, lengths and climbs are those of the track`() async throws {
    var route = Route()
    let legs = [(1200.0, 30.0, 40.0), (800, 135, -20), (2000, 270, 15)]
    for (meters, course, climb) in legs { route.go(meters, toward: course, at: 4, climb: climb) }
    let services = try services(route.gpx)
    let recorder = TrackRecorder(manager: CLLocationManager(services: services))
    try await services.ended()
    let locations = recorder.locations
    #expect(isClose(locations.length, 4000))
    #expect(isClose(locations.climb, 55))
    for (here, next) in zip(locations, locations.dropFirst()) {
      let error = (here.bearing(to: next) - next.course).remainder(dividingBy: 360)
      #expect(abs(error) < 0.5)
    }
    let far = locations[0].moved(by: 1000, toward: 30)
    #expect(isClose(far.distance(from: locations[0]), 1000))
    let box = try #require(locations.box)
    #expect(box.southWest.latitude == 52.5 && box.northEast.longitude > 13.4)
  }

  // MARK: Concurrency

  @Test func `a stream ends its updates with its iteration`() async throws {
    var route = Route()
    route.go(1500, at: 3)
    let services = try services(route.gpx)
    let feed = LocationFeed(manager: CLLocationManager(services: services))
    let sum = TripSum()
    try await sum.follow(feed.locations(), until: 500)
    #expect(isClose(await sum.meters, 501))
    #expect(await sum.count == 168)
    await eventually { !services.locations.isWanted }
    #expect(!services.locations.isWanted)
  }

  @Test func `live updates lose nothing and rest in the end`() async throws {
    var route = Route()
    route.go(2000, at: 2.5)
    route.stay(900)
    let services = try services(route.gpx)
    // While something is uploaded, the replay of a whole track would go by.
    let trip = LiveTrip { _ in try? await Task.sleep(for: .milliseconds(200)) }
    try await trip.follow(CLLocationUpdate.liveUpdates(.fitness, of: { services }))
    #expect(await trip.states == [.waiting, .moving, .resting])
    // 800 s on the way, and 10 minutes of rest.
    #expect((920...924).contains(await trip.count))
    // At rest there are 4 m of jitter at most to each side.
    #expect((1980...3400).contains(await trip.meters))
    #expect(await trip.problems.isEmpty)
    await eventually { !services.locations.isWanted }
    #expect(!services.locations.isWanted)
  }

  @Test func `a model on the main actor follows to its target`() async throws {
    var route = Route()
    route.go(600, at: 2)
    let services = try services(route.gpx)
    let target = CLCircularRegion(
      center: CLLocationCoordinate2D(latitude: 52.5 + 400 / 111_276.8, longitude: 13.4),
      radius: 31, identifier: "target")
    let model = TrackerModel(target: target, manager: CLLocationManager(services: services))
    model.start()
    await eventually { model.phase == .finished }
    // 370 m are within 31 m of the target.
    #expect(model.path.count == 186)
    try await playOn(services)
    #expect(model.path.count == 186 && model.isAuthorized && model.message == nil)
  }

  @Test func `a client of closures has the events in order`() async throws {
    var route = Route()
    route.go(2400, at: 3)
    let services = try services(route.gpx)
    let client = StrangersSwift6.LocationClient.live { CLLocationManager(services: services) }
    let fair = CLCircularRegion(
      center: CLLocationCoordinate2D(latitude: 52.5 + 1000 / 111_276.8, longitude: 13.4),
      radius: 250, identifier: "fair")
    await client.requestAuthorization()
    await client.startUpdates()
    await client.monitor(fair)
    var (latitudes, others): ([Double], [StrangersSwift6.LocationClient.Event]) = ([], [])
    for await event in client.events() {
      switch event {
      case .locations(let new): latitudes += new
      case .authorization: break
      default: others.append(event)
      }
      if event == .exited("fair") { break }
    }
    #expect(others == [.entered("fair"), .exited("fair")])
    #expect(latitudes == latitudes.sorted() && Set(latitudes).count == latitudes.count)
    await client.stopUpdates()
    var scripted: [StrangersSwift6.LocationClient.Event] = []
    for await event in StrangersSwift6.LocationClient.scripted(others).events() {
      scripted.append(event)
    }
    #expect(scripted == others)
  }
}

/// Programs as their authors run them: processes whose environment names a track.
@Suite(.blocking) struct StrangersProgramTests {
  struct Program: Sendable {
    var name: String
    var lines: [String]
  }

  static let programs = [
    Program(
      name: "run",
      lines: [
        "enabled true", "circles true", "beacons false", "compass false", "significant true",
        "run 1001 501 8.3", "main true",
      ]),
    Program(name: "hub", lines: ["status 4", "location true"]),
    Program(name: "automatic", lines: ["start,filter 10,stop"]),
    Program(name: "live", lines: ["live 1001 501", "waiting,moving"]),
    Program(name: "watch", lines: ["in fair,out fair"]),
  ]

  @Test(arguments: programs) func `a process runs on the track that its environment names`(
    program: Program
  ) throws {
    let scratch = try Scratch()
    var route = Route()
    // A little more than asked for, so that 1,000 m are reached at the 500th second.
    route.go(2402.4, at: 2.002)
    try scratch.write(Array(route.gpx.utf8), "run.gpx")
    let run = try ChildRun(
      "StrangersProgram", [program.name],
      [
        "BEACONSCAN_REPLAY": scratch["run.gpx"], "BEACONSCAN_SPEED": "max",
        "XDG_STATE_HOME": scratch["state"],
      ], in: scratch
    ).finish()
    #expect(run.status == 0, "\(run.output)")
    // The status is delivered for the start and for the answer, perhaps after both.
    var lines = run.output.split(separator: "\n").map(String.init)
    while let last = lines.lastIndex(where: { $0.hasPrefix("status") }), last > 0 {
      lines.removeFirst()
    }
    #expect(lines == program.lines)
  }
}
