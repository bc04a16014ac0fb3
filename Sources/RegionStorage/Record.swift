/// What one line of the journal says.
enum Record: Hashable, Sendable {
  /// A region is monitored from now on, in place of one with the same key.
  case put(StoredRegion)
  /// It is no longer; what was to be told of it is not told any more.
  case remove(StoredRegion.Key)
  /// Its state changed; with a serial, the change's event is to be told.
  case change(StoredChange, serial: UInt64?)
  /// An event that was not delivered when the journal was written anew.
  case event(StoredEvent)
  /// The highest serial so far.
  case issued(UInt64)
  /// What the app was granted.
  case authorization(String?)
}
