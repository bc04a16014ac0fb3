/// Accuracies derived from dilutions of precision, as in gpsd: 95 % confidence at a dilution of 1
/// (`H_UERE_NO_DGPS`, `H_UERE_WITH_DGPS` and the height's, libgpsd_core.c of gpsd 3.22).
enum Dilution {
  /// The radius of 68 % of a circular normal distribution, in standard deviations of one axis.
  static let radius68 = 1.509_592
  static let radius95 = 2.447_747
  /// The half-width of 95 % of a normal distribution, in standard deviations.
  static let deviations95 = 1.959_964
  /// The accuracy of a fix without any information about it, in meters.
  static let unknownAccuracy = 50.0

  /// Returns the radius of 68 %, in meters. Receivers write an HDOP of 0 or 99.99 if it is unknown.
  static func horizontalAccuracy(_ hdop: Double?, isDifferential: Bool) -> Double {
    guard let hdop, hdop > 0, hdop < 99 else { return unknownAccuracy }
    return hdop * (isDifferential ? 3.75 : 15) / radius95 * radius68
  }

  static func verticalAccuracy(_ vdop: Double?, isDifferential: Bool) -> Double? {
    guard let vdop, vdop > 0, vdop < 99 else { return nil }
    return vdop * (isDifferential ? 5.75 : 23) / deviations95
  }
}
