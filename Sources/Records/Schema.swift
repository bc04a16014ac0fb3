package struct Schema: Sendable {
  var node: JSONNode
  var definitions: [(name: String, node: JSONNode)] = []

  init(_ node: JSONNode, using definitions: [(String, JSONNode)] = []) {
    self.node = node
    self.definitions = definitions
  }

  package func with(_ key: String, _ limit: JSONNode) -> Schema {
    var schema = self
    schema.node[key] = limit
    return schema
  }

  package var orNull: Schema {
    var schema = self
    if let type = node["type"] { schema.node["type"] = [type, "null"] }
    if case .array(let values) = node["enum"] { schema.node["enum"] = .array(values + [.null]) }
    return schema
  }
}

extension Schema {
  package static let time = anyTime.named("time")
  package static let timeOrNull = anyTime.orNull.named("timeOrNull")
  private static let anyTime = matching(
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}Z$")
  package static let uuid = anyUUID.named("uuid")
  package static let uuidOrNull = anyUUID.orNull.named("uuidOrNull")
  private static let anyUUID = matching(
    "^[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12}$")
  package static let uint16 = integer(0...65535).named("uint16")
  package static let uint16OrNull = integer(0...65535).orNull.named("uint16OrNull")
  package static let count = integer(0...).named("count")
  package static let power = integer(-128...127).named("power")
  package static let rssi = integer(-128...20).orNull.named("rssi")
  package static let meters = number(0...).orNull.named("metres")
  package static let hexadecimal = matching("^([0-9a-f]{2})*$").named("hex")
  package static let address = matching("^[0-9A-F]{2}(:[0-9A-F]{2}){5}$").orNull.named("address")
  package static let addressType = matching(
    "^(public|random|public-identity|random-identity|anonymous|other-[0-9]{1,3})$"
  ).named("addressType")

  package static let adapter = matching("^hci[0-9]+$")
  package static let number = Schema(["type": "number"])
  package static let boolean = Schema(["type": "boolean"])
  package static let string = Schema(["type": "string"])
  package static let text = Schema(["type": "string", "minLength": 1])
  package static let null = Schema(["type": "null"])

  package static func matching(_ pattern: String) -> Schema {
    Schema(["type": "string", "pattern": .text(pattern)])
  }

  package static func integer(_ range: PartialRangeFrom<Int>) -> Schema {
    Schema(["type": "integer", "minimum": .integer(range.lowerBound)])
  }

  package static func integer(_ range: ClosedRange<Int>) -> Schema {
    integer(range.lowerBound...).with("maximum", .integer(range.upperBound))
  }

  package static func number(_ range: PartialRangeFrom<Int>) -> Schema {
    Schema(["type": "number", "minimum": .integer(range.lowerBound)])
  }

  package static func number(_ range: ClosedRange<Int>) -> Schema {
    number(range.lowerBound...).with("maximum", .integer(range.upperBound))
  }

  package static func hexadecimal(bytes: Int) -> Schema {
    hexadecimal.with("minLength", .integer(bytes * 2)).with("maxLength", .integer(bytes * 2))
  }

  package static func one(of texts: [String]) -> Schema {
    Schema(["enum": .array(texts.map { .text($0) })])
  }

  package static func list(of element: Schema) -> Schema {
    Schema(["type": "array", "items": element.node], using: element.definitions)
  }

  package static func one(of records: [Schema]) -> Schema {
    Schema(["oneOf": .array(records.map(\.node))], using: records.flatMap(\.definitions))
  }

  /// Returns a reference to this schema as a named definition.
  package func named(_ name: String, description: String? = nil) -> Schema {
    guard case .object(let members) = node else { return self }
    let head = description.map { [JSONNode.Member(key: "description", value: .text($0))] } ?? []
    return Schema(
      ["$ref": .text("#/$defs/\(name)")],
      using: definitions + [(name, .object(head + members))])
  }

  static func object(of definitions: [(name: String, node: JSONNode)]) -> JSONNode {
    var object: JSONNode = [:]
    for (name, node) in definitions where object[name] == nil { object[name] = node }
    return object
  }

  /// Returns the definitions of schemas, for `components/schemas` of an OpenAPI document.
  package static func components(_ schemas: [Schema]) -> String {
    object(of: schemas.flatMap(\.definitions)).document()
      .split(separator: "#/$defs/", omittingEmptySubsequences: false)
      .joined(separator: "#/components/schemas/")
  }

  /// Returns the whole schema document: a head, one of `lines` for each line, and all definitions.
  package static func document(_ head: JSONNode, lines: [Schema], others: [Schema]) -> String {
    let all = one(of: lines)
    var document = head
    document["oneOf"] = all.node["oneOf"]
    document["$defs"] = object(of: all.definitions + others.flatMap(\.definitions))
    return document.document() + "\n"
  }
}
