extension Vector {
  /// Vectors of projects that read beacons on a host.
  package static let ofHosts = [
    // citruz/beacontools: tests/test_parser.py
    Vector("beacontools-bad-0", .advertisingData, "30303030303030", .notABeacon),
    Vector("beacontools-bad-2", .advertisingData, "0201060303", .notABeacon),
    Vector(
      "beacontools-bad-4", .advertisingData,
      "0201060303aafe1716aafe01e3123456789012346789010000000000010000",
      .notABeacon),
    Vector(
      "beacontools-eddystone_url", .advertisingData,
      "0303aafe1316aafe10f8036769746875620063697472757a",
      .url("https://github.com/citruz", power: -8)),
    Vector(
      "beacontools-eddystone_tlm2", .advertisingData,
      "0201060303aafe1116aafe20000b1847110000146700002ac4e4",
      .telemetry(millivolts: 2840, adverts: 5223, tenths: 10948)),
    Vector(
      "beacontools-eddystone_eid", .advertisingData,
      "0201060303aafe0d16aafe30e34549445f74657374",
      .eid("4549445f74657374", power: -29)),
    Vector(
      "beacontools-cypress_beacon", .advertisingData,
      "0201041aff4c0002150005000100001000800000805f9b013100026c66c3",
      .iBeacon("00050001-0000-1000-8000-00805F9B0131", 2, 27750, power: -61)),
    Vector(
      "beacontools-estimote_telemetry_a2", .advertisingData,
      "02010403039afe17169afe1247a038d5eb032640000001414447f001000000",
      .notAnIBeacon),
    Vector(
      "beacontools-estimote_telemetry_b", .advertisingData,
      "02010403039afe17169afe2247a038d5eb03264001ffffffff492566bc2e50",
      .notAnIBeacon),
    Vector(
      "beacontools-estimote_telemetry_b3", .advertisingData,
      "02010403039afe17169afe0247a038d5eb03264001d842ed73492566bc2e53",
      .notAnIBeacon),
    Vector(
      "beacontools-exposure_notification", .advertisingData,
      "02011a03036ffd17166ffd0d3b4f65584c582160571dd19010d41c2660ee34d1",
      .notAnIBeacon),
    // Bluetooth-Devices/ibeacon-ble: tests/test_init.py
    Vector(
      "ibeaconble-wrong-company", .manufacturerData,
      "15000215426c7565436861726d426561636f6e730efe1355c5",
      .notAnIBeacon),
    Vector(
      "ibeaconble-short", .manufacturerData,
      "4c000215426c7565436861726d426561636f6e73",
      .notAnIBeacon),
    Vector(
      "ibeaconble-tilt", .manufacturerData,
      "4c000215a495bb70c5b14b44b5121370f02d74de005806c8c5",
      .iBeacon("A495BB70-C5B1-4B44-B512-1370F02D74DE", 88, 1736, power: -59)),
    // home-assistant/core: tests/components/ibeacon/__init__.py
    Vector(
      "ha-noname", .manufacturerData,
      "4c0002154e6f4e616d6561726d426561636f6e730efe1355c5",
      .iBeacon("4E6F4E61-6D65-6172-6D42-6561636F6E73", 3838, 4949, power: -59)),
    Vector(
      "ha-feasy-1", .manufacturerData,
      "4c000215fda50693a4e24fb1afcfc6eb07647825275165c1fd",
      .iBeacon("FDA50693-A4E2-4FB1-AFCF-C6EB07647825", 10065, 26049, power: -3)),
    // custom-components/ble_monitor: custom_components/ble_monitor/test/test_ibeacon_parser.py
    Vector(
      "blemonitor-ibeacon", .h4,
      "043e2a02010001433ea2c96b6a1e02011a1aff4c000215e2c56db5dffb48d2b060d0f5a7"
        + "1096e000640000c5b3",
      .iBeacon("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0", 100, 0, power: -59),
      from: "6A:6B:C9:A2:3E:43", rssi: -77),
    Vector(
      "blemonitor-nearby", .h4,
      "043e1d02010001433ea2c96b6a1102011a020a0c0aff4c001005441cbd08c5bb",
      .notAnIBeacon),
    // custom-components/ble_monitor: custom_components/ble_monitor/test/test_govee_parser.py
    Vector(
      "blemonitor-govee-h5075-two-mfr", .h4,
      "043e4602010000116c2438c1a43a0d09475648353037355f36433131030388ec02010509"
        + "ff88ec00012d6e64001aff4c000215494e54454c4c495f524f434b535f48575075f2ffc2"
        + "b3",
      .iBeacon("494E5445-4C4C-495F-524F-434B535F4857", 20597, 62207, power: -62),
      from: "A4:C1:38:24:6C:11", rssi: -77),
    // custom-components/ble_monitor: custom_components/ble_monitor/test/test_holyiot.py
    Vector(
      "blemonitor-holyiot", .h4,
      "043e49020102018ef1f645b5c63d0201061aff4c0002159976aed5f58c49af85ebd0ac72"
        + "81e3f6271b4cb9240d0962696e2d747261636b657200101642524164c6b545f6f18e0606"
        + "01ed25cc",
      .iBeacon("9976AED5-F58C-49AF-85EB-D0AC7281E3F6", 10011, 19641, power: 36),
      from: "C6:B5:45:F6:F1:8E", rssi: -52),
  ]
}
