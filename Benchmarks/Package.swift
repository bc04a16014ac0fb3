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
        .product(name: "ServiceCore", package: "beaconscan"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

// The steps that `micro` measures are not public: it is compiled as a part of the package beside it, whose
// name is that of the directory.
let beaconscan =
  Context.packageDirectory.split(separator: "/").dropLast().last.map(String.init) ?? ""

for target in package.targets {
  target.swiftSettings = [
    .enableExperimentalFeature("Lifetimes"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
  ]
  if target.name == "micro" {
    target.swiftSettings?.append(.unsafeFlags(["-package-name", beaconscan.lowercased()]))
  }
}
