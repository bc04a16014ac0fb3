// swift-tools-version: 6.2
import PackageDescription

// What measures beaconscan. It is a package of its own so that nobody who uses the library builds
// it. See README.md.
let package = Package(
  name: "Benchmarks",
  dependencies: [.package(name: "beaconscan", path: "..")],
  targets: [
    // Writes the recordings that are measured; it uses nothing of beaconscan's.
    .executableTarget(name: "generate"),
    // Nanoseconds of each step that a packet takes.
    .executableTarget(
      name: "micro",
      dependencies: [
        .product(name: "BeaconKit", package: "beaconscan"),
        .product(name: "CoreLocation", package: "beaconscan"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

for target in package.targets {
  target.swiftSettings = [
    .enableExperimentalFeature("Lifetimes"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
  ]
}
