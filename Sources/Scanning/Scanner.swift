// Clocks and Sources are part of a scanner's interface.
@_exported public import Clocks
@_exported public import Sources

/// A source of sightings: a radio, or a recording that is played back.
///
/// `BeaconTesting` provides tests of the contract that every scanner must pass.
public protocol Scanner: Source
where Input == Sighting, Demand == ScanDemand, Health == ScannerHealth {
  /// The numbers of packets received and refused so far. Clients read them at any time.
  var counts: ScanCounts { get }
}

extension LiveSource: Scanner
where
  Session: SourceSession & ~Copyable, Session.Input == Sighting, Session.Demand == ScanDemand,
  Session.Health == ScannerHealth, Session.Counts == ScanCounts
{}

/// The amount that a scanner has to receive: no more than its clients need.
public enum ScanDemand: Int, Sendable, CaseIterable, Comparable, Codable {
  /// No client needs anything: the radio is off.
  case none
  /// Clients need to know which beacons are near: a slow, passive scan.
  case monitoring
  /// Clients need to know which beacons are near enough: the slow scan, with signal strengths.
  case monitoringSignals
  /// Clients need to know how near beacons are: every packet.
  case ranging

  /// Orders demands by the amount of reception.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The progress of a scanner.
public typealias ScanProgress = SourceProgress<ScannerHealth>
