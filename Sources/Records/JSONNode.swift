package indirect enum JSONNode: Equatable, Sendable {
  case null
  case boolean(Bool)
  case integer(Int)
  /// A number that is not infinite.
  case number(Double)
  case text(String)
  case array([JSONNode])
  case object([Member])

  package struct Member: Equatable, Sendable {
    var key: String
    var value: JSONNode
  }
}

extension JSONNode: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  package init(stringLiteral value: String) { self = .text(value) }
  package init(integerLiteral value: Int) { self = .integer(value) }
  package init(booleanLiteral value: Bool) { self = .boolean(value) }
  package init(nilLiteral: ()) { self = .null }
  package init(arrayLiteral elements: JSONNode...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (String, JSONNode)...) {
    self = .object(elements.map { Member(key: $0.0, value: $0.1) })
  }
}

extension JSONNode {
  /// The value of a key. Setting adds a missing key.
  package subscript(key: String) -> JSONNode? {
    get {
      guard case .object(let members) = self else { return nil }
      return members.first { $0.key == key }?.value
    }
    set {
      guard case .object(var members) = self, let newValue else { return }
      if let place = members.firstIndex(where: { $0.key == key }) {
        members[place].value = newValue
      } else {
        members.append(Member(key: key, value: newValue))
      }
      self = .object(members)
    }
  }

  package var line: String {
    switch self {
    case .null: return "null"
    case .boolean(let value): return value ? "true" : "false"
    case .integer(let value): return String(value)
    case .number(let value): return value.isFinite ? "\(value)" : "null"
    case .text(let value):
      var bytes: [UInt8] = []
      appendQuoted(value, to: &bytes)
      return String(decoding: bytes, as: UTF8.self)
    case .array(let elements): return "[" + elements.map(\.line).joined(separator: ", ") + "]"
    case .object(let members):
      let inner = members.map { "\(JSONNode.text($0.key).line): \($0.value.line)" }
      return "{ " + inner.joined(separator: ", ") + " }"
    }
  }

  /// Returns the value, with one line for each member if it would exceed 98 columns on one line.
  package func document(indent: String = "", after: Int = 0) -> String {
    let line = line
    guard indent.count + after + line.count > 98 else { return line }
    let deeper = indent + "  "
    switch self {
    case .array(let elements):
      var lines = [deeper]
      for (index, element) in elements.enumerated() {
        let text = element.document(indent: deeper) + (index + 1 < elements.count ? "," : "")
        let last = lines[lines.count - 1]
        if last == deeper {
          lines[lines.count - 1] += text
        } else if case .text = element, last.count + text.count < 98 {
          lines[lines.count - 1] += " " + text
        } else {
          lines.append(deeper + text)
        }
      }
      return "[\n" + lines.joined(separator: "\n") + "\n\(indent)]"
    case .object(let members):
      let inner = members.map { member in
        let key = JSONNode.text(member.key).line + ": "
        return deeper + key + member.value.document(indent: deeper, after: key.count)
      }
      return "{\n" + inner.joined(separator: ",\n") + "\n\(indent)}"
    default: return line
    }
  }
}
