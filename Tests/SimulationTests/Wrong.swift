import Simulation
import Testing

/// A scenario that must be refused, and the sentence.
struct Wrong: Sendable, CustomTestStringConvertible {
  var json: String
  var sentence: String
  var testDescription: String { sentence }

  init(_ json: String, _ sentence: String) {
    self.json = json
    self.sentence = sentence
  }

  init(beacon: String, _ sentence: String) {
    self.init(Scenes.scenario(beacons: "[\(beacon)]"), sentence)
  }

  init(clutter: String, _ sentence: String) {
    self.init(Scenes.scenario(clutter: "[\(clutter)]"), sentence)
  }

  func expectRefusal(sourceLocation: SourceLocation = #_sourceLocation) {
    let error = #expect(throws: ScenarioError.self, sourceLocation: sourceLocation) {
      try Scenes.parse(json)
    }
    #expect(error?.description == sentence, sourceLocation: sourceLocation)
  }
}
