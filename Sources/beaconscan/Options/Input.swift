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
  /// A character that no value has, between the values of one option. The parser's time grows with
  /// the square of the number of words.
  static let separator: Character = "\0"

  /// Collects the inputs of a type while its options are made.
  private final class Collector: Sendable {
    let inputs = Mutex<[Input]>([])
  }

  @TaskLocal private static var collector: Collector?
  private static let known = Mutex<[ObjectIdentifier: [Input]]>([:])

  fileprivate static func add(_ input: Input) {
    collector?.inputs.withLock { $0.append(input) }
  }

  /// Returns the inputs of a subcommand or a group of options, in their order.
  static func all(of type: any ParsableArguments.Type) -> [Input] {
    let key = ObjectIdentifier(type)
    if let inputs = known.withLock({ $0[key] }) { return inputs }
    let collector = Collector()
    let instance = $collector.withValue(collector) { type.init() }
    // The options of groups are made by their own types.
    var own = collector.inputs.withLock { $0 }[...]
    var inputs: [Input] = []
    for child in Mirror(reflecting: instance).children {
      if let group = child.value as? any GroupOfOptions {
        inputs += group.inputs
      } else if let input = own.popFirst() {
        inputs.append(input)
      }
    }
    if let unused = (type as? any UnusedOptions.Type)?.unusedOptions {
      inputs.removeAll { unused.contains($0.name) }
    }
    known.withLock { $0[key] = inputs }
    return inputs
  }
}

/// A subcommand to which some options of its groups do not apply.
protocol UnusedOptions {
  static var unusedOptions: Set<String> { get }
}

/// A group of options as a property of a subcommand.
private protocol GroupOfOptions {
  var inputs: [Input] { get }
}

extension OptionGroup: GroupOfOptions {
  fileprivate var inputs: [Input] {
    Input.all(of: Value.self).map { input in
      var input = input
      if input.section == nil, !title.isEmpty { input.section = title }
      return input
    }
  }
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
    Input.add(Input(setting, isRequired: setting.standard == nil))
    guard let standard = setting.standard else {
      self.init(
        name: about.names, parsing: .unconditional, help: about.help, completion: about.kind,
        transform: { try setting.value(of: $0) })
      return
    }
    self.init(
      wrappedValue: standard, name: about.names, parsing: .unconditional, help: about.help,
      completion: about.kind, transform: { try setting.value(of: $0) })
  }

  /// Creates an option with one value or none.
  init<Element: Sendable>(_ setting: Setting<Element>) where Value == Element? {
    let about = setting.about
    Input.add(Input(setting))
    self.init(
      name: about.names, parsing: .unconditional, help: about.help, completion: about.kind,
      transform: { text -> Element in try setting.value(of: text) })
  }

  /// Creates an option with several values, which one word may have.
  init<Element: Sendable>(_ setting: Setting<Element>) where Value == [Element] {
    let about = setting.about
    Input.add(Input(setting, isRepeating: true))
    let read: @Sendable (String) throws -> [Element] = { text in
      try text.split(separator: Input.separator, omittingEmptySubsequences: false).map {
        try setting.value(of: String($0))
      }
    }
    let strategy: SingleValueParsingStrategy = .unconditional
    self.init(
      wrappedValue: [], name: about.names, parsing: strategy, help: about.help,
      completion: about.kind, transform: read)
  }
}

extension Flag where Value == Bool {
  init(_ setting: Setting<Bool>) {
    Input.add(Input(setting))
    self.init(wrappedValue: false, name: setting.about.names, help: setting.about.help)
  }
}

extension Argument where Value: Sendable {
  init(_ setting: Setting<String>) where Value == String {
    Input.add(Input(setting, isRequired: true, isArgument: true))
    self.init(help: setting.about.help, completion: setting.about.kind)
  }

  init(_ setting: Setting<String>) where Value == String? {
    Input.add(Input(setting, isArgument: true))
    self.init(help: setting.about.help, completion: setting.about.kind)
  }

  init(_ setting: Setting<String>, isRequired: Bool = false) where Value == [String] {
    Input.add(Input(setting, isRequired: isRequired, isRepeating: true, isArgument: true))
    self.init(wrappedValue: [], help: setting.about.help, completion: setting.about.kind)
  }
}
