// MonotonicTime and what every source has are parts of a scanner's interface.
@_exported public import Clocks
@_exported public import Sources

/// A source of sightings: a radio, or a recording that is played back.
///
/// `BeaconTesting` has the contract as tests that every scanner must pass.
public protocol Scanner: Source
where Input == Sighting, Demand == ScanDemand, Health == ScannerHealth {
  /// The numbers of packets received and refused so far. Clients read it at any time.
  var counts: ScanCounts { get }
}

extension LiveSource: Scanner
where
  Session: SourceSession & ~Copyable, Session.Input == Sighting, Session.Demand == ScanDemand,
  Session.Health == ScannerHealth, Session.Counts == ScanCounts
{}

/// How much a scanner has to receive: no more than its clients need.
public enum ScanDemand: Int, Sendable, CaseIterable, Comparable, Codable {
  /// No client needs anything: the radio is off.
  case none
  /// Clients need to know which beacons are near: a slow, passive scan.
  case monitoring
  /// Clients need to know which beacons are near enough: a slow, passive scan that measures signal strengths.
  case monitoringSignals
  /// Clients need to know how near beacons are: every packet.
  case ranging

  /// Orders demands by how much they ask for.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// How far a scanner has come.
public typealias ScanProgress = SourceProgress<ScannerHealth>
