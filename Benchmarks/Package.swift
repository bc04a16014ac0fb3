// swift-tools-version: 6.2
import PackageDescription

// What measures beaconscan. It is a package of its own so that nobody who uses the library builds
// it. See README.md.
let package = Package(
  name: "Benchmarks",
  targets: [
    // Writes the recordings that are measured; it uses nothing of beaconscan's.
    .executableTarget(
      name: "generate",
      swiftSettings: [
        .enableExperimentalFeature("Lifetimes"),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .strictMemorySafety(),
        .treatAllWarnings(as: .error),
      ])
  ],
  swiftLanguageModes: [.v6]
)
