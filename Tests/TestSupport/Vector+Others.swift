extension Vector {
  /// Vectors of other projects.
  package static let ofOthers = [
    // secdev/scapy: test/contrib/ibeacon.uts
    Vector(
      "scapy-set-adv-data", .commandParameters,
      "1e02011a1aff4c000215fb0b57a2822844cd913a94a122ba120600010002d100",
      .iBeacon("FB0B57A2-8228-44CD-913A-94A122BA1206", 1, 2, power: -47)),
    Vector(
      "scapy-overflow-area", .advertisingData,
      "14ff4c000100000000000000000000000000000080",
      .notAnIBeacon),
    // AltBeacon/android-beacon-library: lib/src/test/java/org/altbeacon/beacon/AltBeaconParserTest.java
    Vector(
      "altbeacon-davem-hw", .advertisingData,
      "02011a1bff1801beac2f234454cf6d4a0fadf2f4911ba9ffa600050003be020e09526164"
        + "426561636f6e20555342020a0300000000000000000000000000",
      .altBeacon("2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6", 5, 3, power: -66)),
    Vector(
      "altbeacon-missing-data-field", .advertisingData,
      "02011a1aff1801beac2f234454cf6d4a0fadf2f4911ba9ffa600010002c5000000",
      .altBeacon("2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6", 1, 2, power: -59)),
    // AltBeacon/android-beacon-library: lib/src/test/java/org/altbeacon/beacon/BeaconParserTest.java
    Vector(
      "altbeacon-issue229", .advertisingData,
      "0201061bffe000beac7777772e626c756b692e636f6d000100010001abaa000000",
      .altBeacon("7777772E-626C-756B-692E-636F6D000100", 256, 427, power: -86)),
    Vector(
      "altbeacon-bbaa", .advertisingData,
      "0201061bffaabbbeace2c56db5dffb48d2b060d0f5a71096e000010004c5000000000000"
        + "0000000000000000000000000000000000000000000000000000",
      .altBeacon("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0", 1, 4, power: -59)),
    Vector(
      "altbeacon-eddystone-tlm", .advertisingData,
      "0201060303aafe1516aafe2001021203130414243405152535",
      .cutTelemetry),
    // AltBeacon/android-beacon-library: lib/src/test/java/org/altbeacon/beacon/OverflowAreaBeaconTest.java
    Vector(
      "altbeacon-overflow-2", .advertisingData,
      "02011a020a0c0eff4c000f05a0336aa5f110025b0c0000000000000000000014ff4c0001"
        + "56fe874900000000000000000000000000000000000000000000",
      .notAnIBeacon),
    // AltBeacon/android-beacon-library: lib/src/test/java/org/altbeacon/beacon/GattBeaconTest.java
    Vector(
      "altbeacon-eddystone-malformed", .advertisingData,
      "0201060303aafe0416aafe10000000000000000000000000000000000000000000000000"
        + "0000000000000000000000000000000000000000000000000000",
      .notABeacon),
    // frawau/aioblescan: tests/test_eddystone.py
    Vector(
      "aioblescan-eddystone-url", .h4,
      "043e2902010301dc29659055f11d0201060303aafe1516aafe10f6036d616b65636f6465"
        + "002361626f7574b5",
      .url("https://makecode.com/#about", power: -10),
      from: "F1:55:90:65:29:DC", rssi: -75),
    // ingics/ingics-message-parser: __test__/others.test.js
    Vector(
      "ingics-ibeacon", .advertisingData,
      "0201061aff4c000215b9a5d27d56cc4e3aab511f2153bcb96700010359d6",
      .iBeacon("B9A5D27D-56CC-4E3A-AB51-1F2153BCB967", 1, 857, power: -42)),
    Vector(
      "ingics-microsoft", .advertisingData,
      "1eff0600010920025e294e5e30809130e56e2ca4701dc8ebed5396b6320b8f",
      .notAnIBeacon),
    // Pebble firmware, test of ble_ibeacon (SPDX Google LLC)
    Vector(
      "pebble-ibeacon", .advertisingData,
      "1aff4c000215976ebb18d3e943c08a638d2b60d9042a000c0022c5",
      .iBeacon("976EBB18-D3E9-43C0-8A63-8D2B60D9042A", 12, 34, power: -59)),
    // starksm64/NativeRaspberryPiBeaconParser: tests/testParserLogic.cpp
    Vector(
      "starksm64-lightbluebean", .h4,
      "043e270201000058c1c97239d01b1aff4c000215a495deadc5b14b44b5121370f02d74de"
        + "3039ffffc5bc",
      .iBeacon("A495DEAD-C5B1-4B44-B512-1370F02D74DE", 12345, 65535, power: -59),
      from: "D0:39:72:C9:C1:58", rssi: -68),
    Vector(
      "starksm64-not", .h4,
      "043e270201040058c1c97239d01b05094c6967741106de742df0701312b5444bb1c510ff"
        + "95a4020a04c5",
      .notAnIBeacon),
    // PureSwift/Bluetooth: Tests/BluetoothTests/iBeaconTests.swift
    Vector(
      "pureswift-estimote-mfr", .manufacturerData,
      "4c000215b9407f30f5f8466eaff925556b57fe6d294c903974",
      .iBeacon("B9407F30-F5F8-466E-AFF9-25556B57FE6D", 10572, 36921, power: 116)),
    Vector("pureswift-bad-2", .advertisingData, "02011a03ff", .notAnIBeacon),
    // shmuelzon/esp32-ble2mqtt: issue #70 (log text)
    Vector(
      "esp32-ble2mqtt-issue70", .advertisingData,
      "0201041bff4c000215ebefd08370a247c89837e7b5634df52473929597cb5a",
      .iBeacon("EBEFD083-70A2-47C8-9837-E7B5634DF524", 29586, 38295, power: -53, trailing: true)),
  ]

  /// All of them.
  package static let all = ofHosts + ofOthers
}
