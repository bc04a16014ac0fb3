// swift-tools-version: 6.2
import Glibc
import PackageDescription

// Packed relocations, which the C library applies since 2.36, the version that also has arc4random.
let packedRelocations =
  dlsym(nil, "arc4random") == nil ? [] : ["-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"]

// The archive of the C++ library, of which Swift's runtime uses little, in place of a library that is loaded and bound at
// each start. Some distributions have no archive.
var archives = glob_t()
let staticCxx =
  glob("/usr/lib/gcc/*/*/libstdc++.a", 0, nil, &archives) == 0
  ? ["-L\(Context.packageDirectory)/Packaging/static", "-Xclang-linker", "-static-libgcc"] : []

/// The settings of the commands. Loaded libraries do not use their symbols, identical functions are folded, and neither C++
/// exceptions nor debuggers need an index of the unwind tables. docs/architecture.md states the saving of each.
let smallCommand: [LinkerSetting] = [
  .unsafeFlags(
    [
      "-use-ld=lld", "-Xlinker", "--no-export-dynamic", "-Xlinker", "--icf=safe",
      "-Xlinker", "--no-eh-frame-hdr",
    ] + packedRelocations + staticCxx,
    .when(configuration: .release))
]

let package = Package(
  name: "beaconscan",
  products: [
    .executable(name: "beaconscan", targets: ["beaconscan"]),
    .executable(name: "beaconscan-fleet", targets: ["beaconscan-fleet"]),
    .library(
      name: "BeaconKit",
      targets: [
        "Bytes", "Clocks", "Sources", "Advertising", "HCIPackets", "Scanning",
        "Ranging", "Regions", "CaptureFiles",
      ]),
    .library(name: "BeaconTesting", targets: ["BeaconTesting"]),
    .library(name: "ServiceCore", targets: ["ServiceCore"]),
    .library(name: "CoreLocation", targets: ["CoreLocation"]),
    .library(name: "LiveScanning", targets: ["LiveScanning"]),
    // Tests/Checks/embedding.sh names it libbeaconscan.so.
    .library(name: "beaconscan-c", type: .dynamic, targets: ["EmbeddingC"]),
  ],
  traits: [
    .trait(
      name: "RawHCI",
      description: "Scan by raw HCI sockets too, which links libbluetooth: GPL-2.0-or-later."),
    .trait(
      name: "Command",
      description: "Build the command and its service too, which fetches SwiftNIO."),
    .default(enabledTraits: ["RawHCI", "Command"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-numerics", from: "1.1.1"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
  ],
  targets: [
    // Layer 0
    .target(name: "Bytes"),
    .target(name: "TOMLDocuments"),
    .systemLibrary(name: "CBluetooth", pkgConfig: "bluez", providers: [.apt(["libbluetooth-dev"])]),
    .systemLibrary(name: "CDBus"),
    .systemLibrary(name: "CMosquitto", providers: [.apt(["libmosquitto-dev"])]),
    // Loaded when it is needed: nothing links it.
    .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "COpenSSL", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CPidfd"),
    .systemLibrary(name: "CXattr"),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

    .target(name: "Clocks"),
    .target(name: "Release"),
    // The contract of all sources of input: radios, daemons, recordings.
    .target(name: "Sources", dependencies: ["Clocks"]),

    // Layer 1
    .target(name: "Advertising", dependencies: ["Bytes"]),

    // Layer 2
    .target(name: "HCIPackets", dependencies: ["Advertising", "Bytes"]),
    .target(
      name: "Scanning",
      dependencies: ["Advertising", "Bytes", "Clocks", "HCIPackets", "Sources"]),

    .target(
      name: "Ranging",
      dependencies: [
        "Advertising", "Scanning", .product(name: "RealModule", package: "swift-numerics"),
      ]),

    .target(
      name: "Positioning",
      dependencies: [
        "Clocks", "Sources", .product(name: "HeapModule", package: "swift-collections"),
        .product(name: "RealModule", package: "swift-numerics"),
      ]),

    // For many receivers: the room of each beacon of a site.
    .target(
      name: "Fusion",
      dependencies: [
        "Advertising", "Bytes", .product(name: "RealModule", package: "swift-numerics"),
      ]),

    // Layer 3
    .target(
      name: "Regions",
      dependencies: [
        "Advertising", "Ranging", "Scanning",
        .product(name: "HeapModule", package: "swift-collections"),
        .product(name: "RealModule", package: "swift-numerics"),
      ]),
    .target(
      name: "CaptureFiles",
      dependencies: [
        "Advertising", "Bytes", "CZlib", "HCIPackets", "Scanning",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),

    .target(name: "DBusMessages", dependencies: ["CDBus", "Clocks"]),

    .target(
      name: "LocationSources",
      dependencies: [
        "Bytes", "CaptureFiles", "Clocks", "DBusMessages", "Positioning", "Scanning",
        "Sources", .product(name: "RealModule", package: "swift-numerics"),
        .product(name: "SystemPackage", package: "swift-system"),
      ]),

    // Imports and links libbluetooth, which is under the GPL, by the trait RawHCI only: without it no socket can
    // be opened.
    .target(
      name: "LiveScanning",
      dependencies: [
        "Advertising", "Bytes", "CXattr", "DBusMessages", "HCIPackets", "Scanning", "Sources",
        .target(name: "CBluetooth", condition: .when(traits: ["RawHCI"])),
      ]),

    // Published for tests of scanners and of apps.
    .target(name: "BeaconTesting", dependencies: ["Advertising", "Scanning"]),

    // Layer 4
    // The output records, each described once.
    .target(
      name: "Records",
      dependencies: ["Advertising", "Positioning", "Ranging", "Regions", "Scanning"]
    ),
    .target(
      name: "Storage",
      dependencies: [
        "Bytes", "CSQLite", .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(name: "FleetReports", dependencies: ["Advertising", "Bytes", "Clocks", "Scanning"]),
    .target(
      name: "Simulation",
      dependencies: [
        "Advertising", "Bytes", "CaptureFiles", "HCIPackets", "Records", "Scanning",
        .product(name: "HeapModule", package: "swift-collections"),
        .product(name: "RealModule", package: "swift-numerics"),
      ]),

    .target(name: "FleetPicture"),

    // Site files, and simulated sites.
    .target(
      name: "FleetSites",
      dependencies: [
        "Advertising", "Fusion", "Scanning", "TOMLDocuments",
        .product(name: "RealModule", package: "swift-numerics"),
      ]),

    .target(
      name: "ServiceCore",
      dependencies: [
        "Advertising", "Bytes", "Positioning", "Ranging", "Regions", "Scanning", "Storage",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "Logging", package: "swift-log"),
      ]),

    .target(
      name: "HTTPServing",
      dependencies: [
        "Records",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "SystemPackage", package: "swift-system"),
      ]),

    // Layer 6
    .target(
      name: "AppDaemon",
      dependencies: [
        "CPidfd", "DBusMessages", "Positioning", "Regions", "Scanning", "ServiceCore", "Storage",
        .product(name: "Logging", package: "swift-log"),
      ]),

    .target(
      name: "BrokerLink",
      dependencies: [
        "Advertising", "CMosquitto", "Clocks", "FleetReports", "Ranging", "Records", "Regions",
        "Scanning", "ServiceCore", "Storage",
        .product(name: "DequeModule", package: "swift-collections"),
      ]),

    .systemLibrary(name: "CRabbitMQ", providers: [.apt(["librabbitmq-dev"])]),
    .target(
      name: "FleetEngine",
      dependencies: [
        "CRabbitMQ", "Clocks", "FleetReports",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "Logging", package: "swift-log"),
      ]),
    .target(
      name: "FleetWork",
      dependencies: [
        "Advertising", "Bytes", "Clocks", "FleetEngine", "FleetPicture", "FleetReports",
        "FleetSites", "Fusion",
      ]),
    // They start the server of Debian's package rabbitmq-server, which Scripts/setup.sh --ci installs.
    .testTarget(
      name: "FleetEngineTests",
      dependencies: [
        "Clocks", "FleetEngine", "FleetReports", "TestDaemons", "TestSupport",
        "fleet-engine-run",
      ],
      exclude: ["failures.py"]),
    // Processes for FleetEngineTests to kill.
    .executableTarget(
      name: "fleet-engine-run", dependencies: ["FleetEngine", "FleetReports"],
      path: "Tests/FleetEngineRun"),

    .systemLibrary(name: "CPostgreSQL", providers: [.apt(["libpq-dev"])]),
    .target(
      name: "FleetHistory",
      dependencies: [
        "CPostgreSQL", "Clocks", "FleetEngine", "FleetPicture", "FleetReports",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "Logging", package: "swift-log"),
      ]),
    // They start the server of Debian's package postgresql, which Scripts/setup.sh --ci installs.
    .testTarget(
      name: "FleetHistoryTests",
      dependencies: [
        "FleetEngine", "FleetHistory", "FleetPicture", "TestDaemons", "TestSupport",
      ]),

    .target(
      name: "FleetPage",
      dependencies: [
        "Advertising", "Clocks", "FleetPicture", "FleetSites", "Fusion", "HTTPServing", "Records",
        "Scanning", .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      resources: [.embedInCode("Page")]),

    .target(
      name: "Webhooks",
      dependencies: [
        "CCurl", "COpenSSL", "Clocks", "Scanning", "ServiceCore",
      ]),

    .target(
      name: "KioskService",
      dependencies: [
        "Advertising", "AppDaemon", "BrokerLink", "FleetReports", "Frontends", "HTTPServing",
        "Positioning", "Ranging", "Records", "Regions", "Scanning", "ServiceCore", "Storage",
        "Webhooks",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      resources: [.embedInCode("Page")]),
    .target(
      name: "CoreLocation",
      dependencies: [
        "Advertising", "CaptureFiles", "LiveScanning", "LocationSources", "Positioning", "Ranging",
        "Regions", "Scanning", "ServiceCore", .product(name: "Logging", package: "swift-log"),
      ]),

    // The common parts of the front ends: the command, the C library.
    .target(
      name: "Frontends",
      dependencies: [
        "Advertising", "CaptureFiles", "LiveScanning", "LocationSources", "Positioning",
        "Ranging", "Records", "Regions", "Scanning", "ServiceCore",
        .product(name: "Logging", package: "swift-log"),
      ]),

    // The C library: its parts, and its functions.
    .target(
      name: "Embedding",
      dependencies: [
        "Advertising", "CaptureFiles", "Frontends", "LiveScanning", "LocationSources",
        "Positioning", "Ranging", "Records", "Regions", "Scanning", "ServiceCore",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "Logging", package: "swift-log"),
      ]),
    .target(
      name: "EmbeddingC",
      dependencies: ["Embedding", "Release"],
      exclude: ["beaconscan.h", "exports.map"],
      // The ABI is that of beaconscan.h, whatever else the objects have. Swift's library cannot be unloaded.
      linkerSettings: [
        .unsafeFlags([
          "-Xlinker", "-soname=libbeaconscan.so.0",
          "-Xlinker", "--version-script=\(Context.packageDirectory)/Sources/EmbeddingC/exports.map",
          "-Xlinker", "-z", "-Xlinker", "nodelete",
        ]),
        // A C program needs no Swift on its machine. Without --static-swift-stdlib the objects do not name the parts of
        // FoundationEssentials.
        .unsafeFlags(
          [
            "-static-stdlib", "-Xlinker", "--gc-sections", "-Xlinker", "--icf=safe",
            "-Xlinker", "--start-group", "-Xlinker", "-lFoundationEssentials",
            "-Xlinker", "-l_FoundationCollections", "-Xlinker", "-l_FoundationCShims",
            "-Xlinker", "--end-group", "-Xlinker", "-z", "-Xlinker", "defs",
          ], .when(configuration: .release)),
      ]),

    // The command
    .executableTarget(
      name: "beaconscan",
      dependencies: [
        "Advertising", "AppDaemon", "BrokerLink", "Bytes", "CaptureFiles", "DBusMessages",
        "Frontends", "HCIPackets", "HTTPServing", "KioskService", "LiveScanning", "LocationSources",
        "Positioning", "Ranging", "Records", "Regions", "Release", "Scanning", "ServiceCore",
        "Simulation", "Storage", "TOMLDocuments", "Webhooks",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      linkerSettings: smallCommand),

    // The command of the fleet
    .executableTarget(
      name: "beaconscan-fleet",
      dependencies: [
        "Advertising", "BrokerLink", "Clocks", "FleetEngine", "FleetHistory", "FleetPage",
        "FleetPicture", "FleetReports", "FleetSites", "FleetWork", "Fusion", "HTTPServing",
        "Release", "Scanning",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      linkerSettings: smallCommand),

    // Tests
    .systemLibrary(name: "CSpawn", path: "Tests/CSpawn"),
    .target(
      name: "TestSupport", dependencies: ["CSpawn", "Positioning", "Scanning"],
      path: "Tests/TestSupport",
      exclude: ["Syncs.c"]),
    .testTarget(name: "TestSupportTests", dependencies: ["TestSupport"]),
    // The daemons of LocationSourcesTests and ManagerTests.
    .target(
      name: "TestDaemons",
      dependencies: [
        "DBusMessages", "Scanning", "ServiceCore", "Storage", "TestSupport",
      ],
      path: "Tests/TestDaemons", exclude: ["compass.py"]),
    .testTarget(name: "TOMLDocumentsTests", dependencies: ["TOMLDocuments"]),
    .testTarget(name: "BytesTests", dependencies: ["Bytes", "TestSupport"]),
    .testTarget(
      name: "FleetReportsTests",
      dependencies: ["Advertising", "Bytes", "Clocks", "FleetReports", "TestSupport"]),
    .testTarget(
      name: "AdvertisingTests",
      dependencies: ["Advertising", "Bytes", "HCIPackets", "TestSupport"]),
    .testTarget(
      name: "DBusMessagesTests", dependencies: ["DBusMessages", "TestDaemons", "TestSupport"]),
    .testTarget(
      name: "HCIPacketsTests",
      dependencies: ["Advertising", "Bytes", "HCIPackets", "TestSupport"]),
    .testTarget(
      name: "HCISocketsTests",
      dependencies: [
        "Advertising", "BeaconTesting", "Bytes", "HCIPackets", "LiveScanning",
        "Scanning",
        "TestSupport",
      ]),
    .testTarget(
      name: "ScanningTests",
      dependencies: ["Advertising", "Scanning", "TestSupport"]),
    .testTarget(
      name: "CaptureFilesTests",
      dependencies: [
        "Advertising", "CaptureFiles", "Scanning", "TestSupport",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .testTarget(
      name: "EmbeddingTests",
      dependencies: [
        "BeaconTesting", "Embedding", "Frontends", "Positioning", "Regions", "Scanning",
        "ServiceCore", "TestSupport",
      ]),
    .testTarget(
      name: "FleetSitesTests",
      dependencies: ["Advertising", "FleetSites", "Fusion", "TestSupport"]),
    .testTarget(
      name: "FleetPageTests",
      dependencies: [
        "Advertising", "Clocks", "FleetPage", "FleetPicture", "FleetSites", "Fusion",
        "HTTPServing", "TestSupport", .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ]),
    .testTarget(
      name: "FleetWorkTests",
      dependencies: [
        "Advertising", "FleetEngine", "FleetPicture", "FleetReports", "FleetSites", "FleetWork",
        "Fusion", "TestDaemons", "TestSupport",
      ]),
    .testTarget(
      name: "FusionTests",
      dependencies: [
        "Advertising", "Fusion", "TestSupport",
        .product(name: "RealModule", package: "swift-numerics"),
      ]),
    .testTarget(
      name: "RegionsTests",
      dependencies: [
        "Advertising", "Ranging", "Regions", "Scanning", "TestSupport",
        .product(name: "RealModule", package: "swift-numerics"),
      ]),
    .testTarget(
      name: "ServiceCoreTests",
      dependencies: [
        "Advertising", "BeaconTesting", "CaptureFiles", "LiveScanning",
        "LocationSources", "Positioning", "Ranging", "Regions", "Scanning", "ServiceCore",
        "Storage", "TestDaemons", "TestSupport",
      ]),
    // They start the broker of Debian's package mosquitto, which Scripts/setup.sh --ci installs.
    .testTarget(
      name: "BrokerLinkTests",
      dependencies: [
        "Advertising", "BrokerLink", "Bytes", "FleetReports", "Ranging", "Records", "Regions",
        "Scanning", "ServiceCore", "Storage", "TestDaemons", "TestSupport", "broker-link-run",
      ]),
    // A process for BrokerLinkTests to kill.
    .executableTarget(
      name: "broker-link-run", dependencies: ["BrokerLink", "Scanning", "ServiceCore"],
      path: "Tests/BrokerLinkRun"),
    .testTarget(
      name: "AppDaemonTests",
      dependencies: [
        "Advertising", "AppDaemon", "BeaconTesting", "DBusMessages", "Embedding", "Positioning",
        "Regions", "Scanning", "ServiceCore", "TestDaemons", "TestSupport", "app-daemon-run",
        .product(name: "Logging", package: "swift-log"),
      ],
      exclude: ["races.py"]),
    // A process for AppDaemonTests to ask and to kill.
    .executableTarget(
      name: "app-daemon-run", dependencies: ["AppDaemon"], path: "Tests/AppDaemonRun"),
    // Their receiver is a program in Python, which verifies signatures by its own library.
    .testTarget(
      name: "WebhooksTests",
      dependencies: ["Scanning", "ServiceCore", "TestDaemons", "TestSupport", "Webhooks"],
      exclude: ["receiver.py"]),
    // The calls that change files, so that a disk can be simulated.
    .target(name: "CFileCalls", path: "Tests/CFileCalls"),
    .testTarget(
      name: "KioskServiceTests",
      dependencies: [
        "Advertising", "BeaconTesting", "BrokerLink", "CFileCalls", "HTTPServing", "KioskService",
        "LocationSources", "Positioning", "Ranging", "Records", "Regions", "Scanning",
        "ServiceCore", "Storage", "TestDaemons", "TestSupport", "Webhooks",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ]),
    .testTarget(
      name: "BeaconTestingTests",
      dependencies: ["Advertising", "BeaconTesting", "CaptureFiles", "Scanning"]),
    // The services of an app in its process or, by an environment variable, through a daemon.
    .target(
      name: "AppTestSupport", dependencies: ["AppDaemon", "CoreLocation", "ServiceCore"],
      path: "Tests/AppTestSupport"),
    .testTarget(
      name: "ManagerTests",
      dependencies: [
        "Advertising", "AppTestSupport", "BeaconTesting", "CaptureFiles", "CoreLocation",
        "DBusMessages",
        "LiveScanning", "LocationSources", "ManagerTorture", "Positioning",
        "Regions", "Scanning", "ServiceCore", "Storage", "TestDaemons", "TestSupport",
        .product(name: "Logging", package: "swift-log"),
      ],
      exclude: ["Members/asked.txt"]),
    // A process for ManagerTests to kill.
    .executableTarget(
      name: "ManagerTorture",
      dependencies: [
        "Advertising", "AppDaemon", "BeaconTesting", "CoreLocation", "Regions", "Scanning",
        "ServiceCore", "TestSupport",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      path: "Tests/ManagerTorture"),
    // Uses a store until a test kills it.
    .executableTarget(
      name: "storage-torture",
      dependencies: ["Storage", "TestSupport"],
      path: "Tests/StorageTorture"),
    .testTarget(
      name: "StorageTests",
      dependencies: [
        "CSQLite", "Storage", "TestSupport", "storage-torture",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .testTarget(
      name: "CommandTests",
      dependencies: [
        "Advertising", "AppDaemon", "BeaconTesting", "Embedding", "Frontends", "HCIPackets",
        "KioskService", "Ranging", "Records", "Regions", "Scanning", "ServiceCore", "Storage",
        "TOMLDocuments", "TestDaemons", "TestSupport", "beaconscan",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    // They need Linux's Bluetooth: Scripts/guest-test.sh runs them in a guest that has it.
    .testTarget(
      name: "GuestTests",
      dependencies: [
        "Advertising", "CaptureFiles", "CoreLocation", "LiveScanning", "Scanning", "ServiceCore",
        "TestSupport",
      ]),
    .testTarget(
      name: "ScenarioTests",
      dependencies: [
        "Advertising", "CaptureFiles", "Ranging", "Scanning", "Simulation",
        .product(name: "RealModule", package: "swift-numerics"),
      ]),
    .testTarget(
      name: "BlueZTests",
      dependencies: [
        "Advertising", "BeaconTesting", "LiveScanning", "DBusMessages", "Scanning",
        "TestDaemons", "TestSupport",
      ]),
    .testTarget(
      name: "LiveScanningTests",
      dependencies: [
        "Advertising", "BeaconTesting", "LiveScanning", "Scanning",
        "TestSupport",
      ]),
    .testTarget(
      name: "RecordsTests",
      dependencies: ["Advertising", "Positioning", "Records", "Regions", "Scanning"]),
    .testTarget(
      name: "SimulationTests",
      dependencies: ["Advertising", "CaptureFiles", "Scanning", "Simulation"]),
    .testTarget(
      name: "PositioningTests",
      dependencies: [
        "Positioning", "Scanning", "TestSupport",
        .product(name: "RealModule", package: "swift-numerics"),
      ],
      exclude: ["geodesics.csv"]),
    .testTarget(
      name: "TrackTests",
      dependencies: [
        "Bytes", "LocationSources", "Positioning", "Scanning", "TestSupport",
      ],
      exclude: ["Vectors", "make-vectors.py"]),
    .testTarget(
      name: "LocationTests",
      dependencies: ["LocationSources", "Positioning", "Scanning", "ServiceCore", "TestSupport"]),
    // They start the daemons of Debian's packages, which Scripts/setup.sh --ci installs.
    .testTarget(
      name: "LocationSourcesTests",
      dependencies: [
        "BeaconTesting", "Bytes", "DBusMessages", "LocationSources", "Positioning",
        "Scanning",
        "ServiceCore", "TestDaemons", "TestSupport",
      ],
      exclude: ["Logs"]),
    // Sources that were written for Apple's framework, in two language modes: they must compile, and
    // those of locations run on recorded tracks.
    .target(
      name: "StrangersSwift5", dependencies: ["CoreLocation"], path: "Tests/Strangers/Swift5",
      packageAccess: false),
    .target(
      name: "StrangersSwift6", dependencies: ["CoreLocation"], path: "Tests/Strangers/Swift6",
      packageAccess: false),
    // The same as processes of their own.
    .executableTarget(
      name: "StrangersProgram",
      dependencies: ["CoreLocation", "StrangersSwift5", "StrangersSwift6"],
      path: "Tests/Strangers/Program", packageAccess: false),
    .testTarget(
      name: "CoreLocationTests",
      dependencies: [
        "Advertising", "AppTestSupport", "CaptureFiles", "CoreLocation", "LocationSources",
        "Positioning", "Ranging", "Scanning", "ServiceCore", "StrangersProgram", "StrangersSwift5",
        "StrangersSwift6", "TestSupport",
      ]),
    .testTarget(
      name: "RangingTests",
      dependencies: [
        "Advertising", "Ranging", "Scanning", "TestSupport",
        .product(name: "RealModule", package: "swift-numerics"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

// The data that Benchmarks/Studies draw and compare with the truth, and the steps that Benchmarks
// measures. The programs use declarations that are not public, so they are built as a part of this
// package, and only on request.
if Context.environment["BUILD_STUDIES"] != nil {
  let libraries = [
    "ranging-trace": ["Ranging", "TestSupport"], "regions-trace": ["Regions", "TestSupport"],
    "geofences-trace": ["Positioning"],
    "rooms-study": [
      "FleetReports", "FleetSites", "FleetWork", "Fusion", "TestSupport",
    ],
    "apps-cost": ["AppDaemon", "BeaconTesting", "Regions", "ServiceCore"],
    "micro": [
      "Bytes", "CaptureFiles", "CoreLocation", "HCIPackets", "Ranging", "Regions",
      "ServiceCore",
    ],
  ]
  for (name, libraries) in libraries.sorted(by: { $0.key < $1.key }) {
    package.targets.append(
      .executableTarget(
        name: name,
        dependencies: libraries.map { .target(name: $0) } + [
          "Advertising", "Scanning", .product(name: "RealModule", package: "swift-numerics"),
        ],
        path: "Benchmarks/Sources/\(name)"))
  }
}

// The package manager fetches no package that only targets under a trait that is off would use: an
// app that uses the libraries without the trait Command fetches four.
let packagesOfCommand: Set = ["swift-argument-parser", "swift-http-types", "swift-nio"]
for target in package.targets {
  target.dependencies = target.dependencies.map { dependency in
    guard case .productItem(let name, let package?, _, _) = dependency,
      packagesOfCommand.contains(package)
    else { return dependency }
    return .product(name: name, package: package, condition: .when(traits: ["Command"]))
  }
}

// One set of strict settings for every target but those sources, which use the default settings.
for target in package.targets where target.type != .system {
  if target.name.hasPrefix("Strangers") {
    target.swiftSettings = [.swiftLanguageMode(target.name == "StrangersSwift6" ? .v6 : .v5)]
    continue
  }
  target.swiftSettings = [
    .enableExperimentalFeature("Lifetimes"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
  ]
}

// For the command and the library for C: the linker leaves out each function without a caller, and
// generic types are made without a search for conformances.
let quick = [
  "-Xfrontend", "-function-sections",
  "-Xfrontend", "-disable-concrete-type-metadata-mangled-name-accessors",
]
// Modules through which few reports pass are compiled for size.
let small: Set = [
  "AppDaemon", "BrokerLink", "FleetPage", "Frontends", "HTTPServing", "KioskService",
  "Simulation", "TOMLDocuments", "Webhooks", "beaconscan",
]
for target in package.targets where small.contains(target.name) {
  target.swiftSettings?.append(.unsafeFlags(["-Osize"] + quick, .when(configuration: .release)))
}

for target in package.targets where target.name == "Records" {
  target.swiftSettings?.append(.unsafeFlags(quick, .when(configuration: .release)))
}

// The scripts of this package set it for their builds. Tests spend most of their time in the arithmetic, the parsers and
// the state machines, which are five times as fast if optimized; everything else is compiled as usual.
if Context.environment["OPTIMIZED_TEST_BUILD"] != nil {
  let optimized: Set = [
    "Bytes", "Clocks", "Sources", "Advertising", "HCIPackets", "Scanning",
    "CaptureFiles", "Ranging", "Regions", "Positioning", "Records", "Simulation", "Storage",
    "ServiceCore", "Frontends",
    "LocationSources", "HTTPServing", "KioskService", "BrokerLink", "Webhooks", "FleetReports",
    "FleetPage", "FleetPicture", "FleetSites", "FleetWork", "Fusion",
  ]
  for target in package.targets where optimized.contains(target.name) {
    target.swiftSettings?.append(.unsafeFlags(["-O"], .when(configuration: .debug)))
  }
}

// Tests/Checks/without-hci.sh builds only the tests that it runs.
if let names = Context.environment["BEACONSCAN_TESTS"]?.split(separator: " ") {
  package.targets.removeAll { target in
    let isForTests = target.type == .test || target.path?.hasPrefix("Tests/") == true
    return isForTests && target.type != .system && !names.contains { $0 == target.name }
  }
}
