/// The error for an invalid scenario: a sentence that begins with the key's path, for example
/// `beacons[2].interval must be between 20 and 10240 ms, not 5`.
package struct ScenarioError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
