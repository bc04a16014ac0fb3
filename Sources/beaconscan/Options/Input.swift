import ArgumentParser
import Frontends
import Synchronization

/// An option, flag or argument of a subcommand: a setting, and how many values it has.
struct Input: Sendable {
  let about: SettingDescription
  let isRequired: Bool
  let isRepeating: Bool
  /// Whether it is an argument, which has no name on the command line.
  let isArgument: Bool
  /// The section of the help; `nil` for the subcommand's own options.
  var section: String?
  private let read: @Sendable (String) throws(OptionError) -> Void
  private let missing: OptionError
  private let requirement: String

  fileprivate init<Value>(
    _ setting: Setting<Value>, isRequired: Bool = false, isRepeating: Bool = false,
    isArgument: Bool = false
  ) {
    about = setting.about
    missing = setting.missingValue
    requirement = setting.requirement("")
    self.isRequired = isRequired
    self.isRepeating = isRepeating
    self.isArgument = isArgument
    read = { text throws(OptionError) in _ = try setting.value(of: text) }
  }

  var name: String { about.name }
  var isFlag: Bool { about.syntax == nil }

  /// Returns whether another input means the same.
  func isSame(as other: Input?) -> Bool {
    about == other?.about && isRepeating == other?.isRepeating
  }

  /// Throws `CommandError` for a value that is not valid.
  func check(_ text: String?) throws(CommandError) {
    do throws(OptionError) {
      guard let text else { throw missing }
      try read(text)
    } catch {
      throw CommandError(.usage, error.sentence(mark: "--"))
    }
  }

  /// The error of a subcommand without this input.
  var absence: String {
    isArgument
      ? "<\(name)> is missing" : "--\(name) is missing: \(requirement)"
  }
}

extension Input {
  /// Lists the inputs of a type while its options are made, and gives them the values of a command
  /// line, if there is one.
  fileprivate final class Maker: Sendable {
    struct State {
      var inputs: [Input] = []
      var error: (any Error)?
    }

    let given: GivenInputs?
    let state = Mutex(State())

    init(_ given: GivenInputs? = nil) { self.given = given }

    /// Makes an instance of a type.
    func make<Made: ParsableArguments>(_ type: Made.Type) -> Made {
      Input.$maker.withValue(self) { Made() }
    }

    func note(_ error: any Error) { state.withLock { $0.error = $0.error ?? error } }
  }

  @TaskLocal private static var maker: Maker?
  private static let known = Mutex<[ObjectIdentifier: [Input]]>([:])

  /// Lists this input, and returns its value for the type that is made of a command line, if one is.
  fileprivate func value<Value>(
    or standard: Value?, read: (_ texts: [String?]) throws -> Value
  ) -> Value? {
    guard let maker = Self.maker else { return nil }
    guard let given = maker.given else {
      maker.state.withLock { $0.inputs.append(self) }
      return nil
    }
    let texts = isArgument ? given.arguments : given.values[name]
    do {
      if let texts, !texts.isEmpty { return try read(texts) }
      if let standard { return standard }
      throw CommandError(.usage, absence)
    } catch {
      maker.note(error)
      return nil
    }
  }

  /// Makes a group of options, and gives its inputs a section. Returns the group if it is made of a
  /// command line that is valid.
  fileprivate static func group<Group: ParsableArguments>(_ section: String) -> Group? {
    guard let maker else { return nil }
    let start = maker.state.withLock { $0.inputs.count }
    var group = Group()
    let isValid = maker.state.withLock { state in
      for index in state.inputs[start...].indices
      where state.inputs[index].section == nil && !section.isEmpty {
        state.inputs[index].section = section
      }
      return maker.given != nil && state.error == nil
    }
    guard isValid else { return nil }
    do {
      try group.validate()
      return group
    } catch {
      maker.note(error)
      return nil
    }
  }

  /// Returns the inputs of a subcommand or a group of options, in their order.
  static func all(of type: any ParsableArguments.Type) -> [Input] {
    let key = ObjectIdentifier(type)
    if let inputs = known.withLock({ $0[key] }) { return inputs }
    let maker = Maker()
    _ = maker.make(type)
    let inputs = maker.state.withLock { $0.inputs }
    known.withLock { $0[key] = inputs }
    return inputs
  }
}

extension ParsableArguments {
  /// Creates a subcommand or a group of options with the values of a command line.
  ///
  /// The parser would look for the conformances of each property's type, which takes longer than the
  /// rest of a start.
  ///
  /// - Throws: `CommandError`, `OptionError` or `ValidationError` if the values are not valid.
  init(_ given: GivenInputs) throws {
    let maker = Input.Maker(given)
    self = maker.make(Self.self)
    if let error = maker.state.withLock({ $0.error }) { throw error }
    try validate()
  }
}

extension OptionGroup {
  /// Creates a group of options under a heading of the help, or of the help's first part.
  init(title: String) {
    self.init(title: title, visibility: .default)
    if let group: Value = Input.group(title) { wrappedValue = group }
  }

  init() { self.init(title: "") }
}

extension SettingDescription {
  fileprivate var help: ArgumentHelp {
    ArgumentHelp("\(explanation)", discussion: details ?? "", valueName: syntax)
  }

  fileprivate var names: NameSpecification {
    guard let letter else { return .customLong(name) }
    return [.customLong(name), .customShort(letter)]
  }

  fileprivate var kind: CompletionKind {
    switch completion {
    case .none: .default
    case .file: .file()
    case .files(let endings): .file(extensions: endings)
    case .words(let words): .list(words)
    // The adapters of this machine, without the connections that the kernel lists with them.
    case .adapter: .shellCommand("ls /sys/class/bluetooth 2>/dev/null | grep -v :")
    }
  }
}

extension Option where Value: Sendable {
  /// Creates an option with one value: the setting's default, or one that must be given.
  init(_ setting: Setting<Value>) {
    let about = setting.about
    let input = Input(setting, isRequired: setting.standard == nil)
    let value = input.value(or: setting.standard) { try setting.value(of: $0[0] ?? "") }
    if let standard = setting.standard {
      self.init(
        wrappedValue: standard, name: about.names, parsing: .unconditional, help: about.help,
        completion: about.kind, transform: { try setting.value(of: $0) })
    } else {
      self.init(
        name: about.names, parsing: .unconditional, help: about.help, completion: about.kind,
        transform: { try setting.value(of: $0) })
    }
    if let value { wrappedValue = value }
  }

  /// Creates an option with one value or none.
  init<Element: Sendable>(_ setting: Setting<Element>) where Value == Element? {
    let about = setting.about
    let value: Value? = Input(setting).value(or: .some(nil)) { try setting.value(of: $0[0] ?? "") }
    self.init(
      name: about.names, parsing: .unconditional, help: about.help, completion: about.kind,
      transform: { text -> Element in try setting.value(of: text) })
    if let value { wrappedValue = value }
  }

  /// Creates an option with several values.
  init<Element: Sendable>(_ setting: Setting<Element>) where Value == [Element] {
    let about = setting.about
    let value = Input(setting, isRepeating: true).value(or: []) { texts in
      try texts.map { try setting.value(of: $0 ?? "") }
    }
    self.init(
      wrappedValue: [], name: about.names, parsing: .unconditionalSingleValue, help: about.help,
      completion: about.kind, transform: { text -> Element in try setting.value(of: text) })
    if let value { wrappedValue = value }
  }
}

extension Flag where Value == Bool {
  init(_ setting: Setting<Bool>) {
    let value = Input(setting).value(or: false) { _ in true }
    self.init(wrappedValue: false, name: setting.about.names, help: setting.about.help)
    if let value { wrappedValue = value }
  }
}

extension Argument where Value: Sendable {
  init(_ setting: Setting<String>) where Value == String {
    let value = Input(setting, isRequired: true, isArgument: true).value(or: nil) { $0[0] ?? "" }
    self.init(help: setting.about.help, completion: setting.about.kind)
    if let value { wrappedValue = value }
  }

  init(_ setting: Setting<String>) where Value == String? {
    let value: Value? = Input(setting, isArgument: true).value(or: .some(nil)) { $0[0] }
    self.init(help: setting.about.help, completion: setting.about.kind)
    if let value { wrappedValue = value }
  }

  init(_ setting: Setting<String>, isRequired: Bool = false) where Value == [String] {
    let input = Input(setting, isRequired: isRequired, isRepeating: true, isArgument: true)
    let value = input.value(or: []) { $0.compactMap { $0 } }
    self.init(wrappedValue: [], help: setting.about.help, completion: setting.about.kind)
    if let value { wrappedValue = value }
  }
}
