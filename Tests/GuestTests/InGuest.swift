import Foundation
import Testing

/// All tests that need a Bluetooth stack, one after the other: they share one kernel.
///
/// They run in the guest that `Scripts/guest-test.sh` boots, and only there.
@Suite(.serialized, .inGuest) enum InGuest {}

extension Trait where Self == ConditionTrait {
  /// Only in the guest.
  static var inGuest: Self {
    .enabled(
      if: Guest.isHere,
      "needs Linux's Bluetooth and virtual beacons: Scripts/guest-test.sh has both")
  }
}
