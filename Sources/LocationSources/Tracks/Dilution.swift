/// Accuracies from dilutions of precision.
///
/// They are those that gpsd assumes at a dilution of 1, of 95 % confidence (`H_UERE_NO_DGPS`, `H_UERE_WITH_DGPS` and the same
/// for the height, libgpsd_core.c of gpsd 3.22), so that a track and the same track played to gpsd agree.
enum Dilution {
  /// The radius that contains 68 % of a circular normal distribution, in standard deviations along one axis.
  static let radius68 = 1.509_592
  /// The radius that contains 95 % of it.
  static let radius95 = 2.447_747
  /// A normal number lies within so many standard deviations of its mean in 95 of 100 cases.
  static let deviations95 = 1.959_964
  /// The accuracy of a fix of which nothing but its place is known, in meters.
  static let unknownAccuracy = 50.0

  /// The radius of 68 %, in meters. Receivers without a fix state 0 or 99.99, which are not known.
  static func horizontalAccuracy(_ hdop: Double?, isDifferential: Bool) -> Double {
    guard let hdop, hdop > 0, hdop < 99 else { return unknownAccuracy }
    return hdop * (isDifferential ? 3.75 : 15) / radius95 * radius68
  }

  /// The standard deviation of the height, in meters.
  static func verticalAccuracy(_ vdop: Double?, isDifferential: Bool) -> Double? {
    guard let vdop, vdop > 0, vdop < 99 else { return nil }
    return vdop * (isDifferential ? 5.75 : 23) / deviations95
  }
}
