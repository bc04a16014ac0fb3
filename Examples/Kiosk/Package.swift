// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Kiosk",
  dependencies: [.package(name: "beaconscan", path: "../..", traits: ["RawHCI"])],
  targets: [
    .executableTarget(
      name: "Kiosk",
      dependencies: [
        .product(name: "BeaconKit", package: "beaconscan"),
        .product(name: "CoreLocation", package: "beaconscan"),
      ])
  ]
)
