import Records

/// An input: its name, meaning, valid values, default and parsing, which every front end shares.
/// The use of a setting states how many values it has.
package struct Setting<Value: Sendable>: Sendable {
  package private(set) var about: SettingDescription
  /// The value without an input; `nil` if there is none.
  package let standard: Value?
  /// Returns the requirement for a value, and the reason that a text is not one.
  package let requirement: @Sendable (_ text: String) -> String
  private let read: @Sendable (String) -> Value?

  /// Describes a setting. `valid` returns the requirement for a value, which may say what is wrong
  /// with a text.
  package init(
    _ about: SettingDescription, standard: Value? = nil,
    valid: @escaping @Sendable (_ text: String) -> String,
    read: @escaping @Sendable (_ text: String) -> Value?
  ) {
    self.about = about
    self.standard = standard
    requirement = valid
    self.read = read
  }

  package init(
    _ name: String, _ summary: String, _ syntax: String, details: String? = nil,
    standard: Value? = nil, shown: String? = nil, completion: SettingDescription.Completion = .none,
    valid: String, read: @escaping @Sendable (_ text: String) -> Value?
  ) {
    self.init(
      SettingDescription(
        name, summary, syntax, details: details, standard: shown, completion: completion),
      standard: standard, valid: { _ in valid }, read: read)
  }

  package var name: String { about.name }

  package var rare: Self {
    var rare = self
    rare.about.isRare = true
    return rare
  }

  package func value(of text: String) throws(OptionError) -> Value {
    guard !text.isEmpty else {
      throw .missingValue(name, requirement: requirement(""))
    }
    guard let value = read(text) else {
      throw .wrongValue(name, text, requirement: requirement(text))
    }
    return value
  }

  package var missingValue: OptionError {
    .missingValue(name, requirement: requirement(""))
  }
}

/// What is known of a setting without the type of its value.
package struct SettingDescription: Hashable, Sendable {
  package enum Completion: Hashable, Sendable {
    case none, file, adapter
    case files(endings: [String])
    case words([String])
  }

  package let name: String
  package let letter: Character?
  package let summary: String
  /// The form of a value; `nil` for a flag.
  package let syntax: String?
  package let details: String?
  package let standard: String?
  /// The valid numbers; `nil` for other kinds of values.
  package let range: ClosedRange<Double>?
  package let completion: Completion
  package fileprivate(set) var isRare = false

  package init(
    _ name: String, letter: Character? = nil, _ summary: String, _ syntax: String?,
    details: String? = nil, standard: String? = nil, range: ClosedRange<Double>? = nil,
    completion: Completion = .none
  ) {
    self.name = name
    self.letter = letter
    self.summary = summary
    self.syntax = syntax
    self.details = details
    self.standard = standard
    self.range = range
    self.completion = completion
  }

  package var explanation: String {
    let notes = [range.map(Self.text), standard.map { "default: \($0)" }].compactMap { $0 }
    return notes.isEmpty ? summary : "\(summary) (\(notes.joined(separator: "; ")))"
  }

  /// Returns a range as text. One that ends with the greatest number of its type has no end.
  fileprivate static func text(_ range: ClosedRange<Double>) -> String {
    let (least, most) = (decimal(range.lowerBound, 2), decimal(range.upperBound, 2))
    if range.upperBound > 1e15 { return "\(least) or more" }
    return range.lowerBound == .leastNonzeroMagnitude
      ? "more than 0 and at most \(most)" : "from \(least) to \(most)"
  }

  /// Returns the requirement for a number, such as `a whole number`, in a range.
  fileprivate static func requirement(_ kind: String, _ range: ClosedRange<Double>) -> String {
    let text = text(range)
    return "write \(kind)\(kind.contains("such as") ? "," : "") "
      + (text.hasPrefix("from") ? text : "of \(text)")
  }
}

extension Setting where Value == Bool {
  package static func flag(
    _ name: String, letter: Character? = nil, _ summary: String, details: String? = nil
  ) -> Self {
    Self(
      SettingDescription(name, letter: letter, summary, nil, details: details), standard: false,
      valid: { _ in "write true or false, or give no value" }, read: Bool.init)
  }
}

extension Setting where Value == Double {
  /// A number of a kind, such as `a number such as 2.2`.
  package static func number(
    _ name: String, _ summary: String, _ syntax: String, in range: ClosedRange<Double>,
    shown: String? = nil, kind: String
  ) -> Self {
    let valid = SettingDescription.requirement(kind, range)
    return Self(
      SettingDescription(name, summary, syntax, standard: shown, range: range),
      valid: { _ in valid }
    ) { text in
      Double(text).flatMap { range.contains($0) ? $0 : nil }
    }
  }
}

extension Setting where Value: FixedWidthInteger {
  package static func whole(
    _ name: String, _ summary: String, _ syntax: String = "number",
    in range: ClosedRange<Value>, standard: Value? = nil, shown: String? = nil,
    kind: String = "a whole number"
  ) -> Self {
    let numbers = Double(range.lowerBound)...Double(range.upperBound)
    let valid = SettingDescription.requirement(kind, numbers)
    return Self(
      SettingDescription(
        name, summary, syntax, standard: shown ?? standard.map { "\($0)" }, range: numbers),
      standard: standard, valid: { _ in valid }
    ) { text in
      Value(text).flatMap { range.contains($0) ? $0 : nil }
    }
  }
}

extension Setting where Value == Seconds {
  package static func time(
    _ name: String, _ summary: String, details: String? = nil,
    in range: ClosedRange<Double> = .leastNonzeroMagnitude...1e9, standard: Value? = nil,
    shown: String? = nil, valid: String = "write \(Seconds.example), of more than 0"
  ) -> Self {
    Self(
      name, summary, "time", details: details, standard: standard, shown: shown, valid: valid
    ) { text in
      Seconds(argument: text).flatMap { range.contains($0.value) ? $0 : nil }
    }
  }
}

extension Setting where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  package static func choice(
    _ name: String, _ summary: String, _ syntax: String, details: String? = nil,
    standard: Value? = nil, shown: String? = nil
  ) -> Self {
    let words = Value.allCases.map(\.rawValue)
    return Self(
      name, summary, syntax, details: details, standard: standard,
      shown: shown ?? standard?.rawValue, completion: .words(words),
      valid: "write \(either(words))",
      read: Value.init(rawValue:))
  }
}

extension Setting where Value == String {
  package static func text(
    _ name: String, _ summary: String, _ syntax: String, details: String? = nil,
    shown: String? = nil, completion: SettingDescription.Completion = .none, valid: String,
    isValid: @escaping @Sendable (String) -> Bool = { _ in true }
  ) -> Self {
    Self(
      name, summary, syntax, details: details, shown: shown, completion: completion, valid: valid
    ) { text in isValid(text) ? text : nil }
  }

  package static func file(
    _ name: String, _ summary: String, details: String? = nil, shown: String? = nil,
    endings: [String] = [], valid: String = "write the name of a file",
    isValid: @escaping @Sendable (String) -> Bool = { _ in true }
  ) -> Self {
    text(
      name, summary, "file", details: details, shown: shown,
      completion: endings.isEmpty ? .file : .files(endings: endings), valid: valid,
      isValid: isValid)
  }
}

package func either(_ words: [String]) -> String {
  guard words.count > 1, let last = words.last else { return words.joined() }
  return words.dropLast().joined(separator: ", ") + " or " + last
}

/// The way in which a kind of record takes the value of a setting.
package struct Assignment<Root>: Sendable {
  package let about: SettingDescription
  /// Sets the value from a text, which a flag may lack.
  package let set: @Sendable (inout Root, String?) throws(OptionError) -> Void

  package var name: String { about.name }

  private init<Value>(
    _ setting: Setting<Value>, _ assign: @escaping @Sendable (inout Root, Value) -> Void
  ) {
    about = setting.about
    let isFlag = setting.about.syntax == nil
    set = { (root, text) throws(OptionError) in
      guard let text = text ?? (isFlag ? "true" : nil) else { throw setting.missingValue }
      assign(&root, try setting.value(of: text))
    }
  }

  private init(
    _ about: SettingDescription,
    _ set: @escaping @Sendable (inout Root, String?) throws(OptionError) -> Void
  ) {
    self.about = about
    self.set = set
  }

  package func within<Whole>(_ path: any WritableKeyPath<Whole, Root> & Sendable) -> Assignment<
    Whole
  > {
    Assignment<Whole>(about) { [set] (whole, text) throws(OptionError) in
      try set(&whole[keyPath: path], text)
    }
  }

  package static func one<Value>(
    _ setting: Setting<Value>, _ path: any WritableKeyPath<Root, Value> & Sendable
  ) -> Self {
    Self(setting) { $0[keyPath: path] = $1 }
  }

  package static func one<Value>(
    _ setting: Setting<Value>, _ path: any WritableKeyPath<Root, Value?> & Sendable
  ) -> Self {
    Self(setting) { $0[keyPath: path] = $1 }
  }

  package static func several<Value>(
    _ setting: Setting<Value>, _ path: any WritableKeyPath<Root, [Value]> & Sendable
  ) -> Self {
    Self(setting) { $0[keyPath: path].append($1) }
  }
}
