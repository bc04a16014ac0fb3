import ArgumentParser
import Frontends

/// The options and arguments of a command line, before their values are read.
struct GivenInputs {
  /// The options of the subcommand.
  let inputs: [String: Input]
  private let all: [Input]
  /// The words of the subcommand's name.
  let path: [String]
  /// The values by option, `nil` for a flag.
  private(set) var values: [String: [String?]] = [:]
  private(set) var arguments: [String] = []

  private var help: String { (["beaconscan"] + path + ["--help"]).joined(separator: " ") }

  /// Reads the words after the subcommand's name, for it or a group of its options.
  ///
  /// - Throws: `CommandError` for an option that the subcommand does not have, or a missing value.
  init(
    _ words: some Sequence<String>, for type: any ParsableArguments.Type, path: [String] = []
  ) throws(CommandError) {
    self.path = path
    all = Input.all(of: type)
    inputs = Dictionary(
      all.filter { !$0.isArgument }.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var missing: CommandError?
    var rest = Array(words)[...]
    while let word = rest.popFirst() {
      guard word != "--" else {
        arguments += rest
        break
      }
      guard word.hasPrefix("-"), word != "-" else {
        arguments.append(word)
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      var text = parts.count > 1 ? String(parts[1]) : nil
      let found: [Input]
      do throws(CommandError) {
        found = try named(String(parts[0]))
      } catch {
        // A value that begins like an option is missing to the option before it.
        throw missing ?? error
      }
      for input in found {
        if input.isFlag {
          if let text {
            throw CommandError(.usage, "--\(input.name) takes no value; leave '=\(text)' out")
          }
        } else if text == nil, let next = rest.first, next.isValue {
          text = next
          rest.removeFirst()
        }
        if !input.isFlag, text?.isEmpty != false, missing == nil {
          do throws(CommandError) { try input.check(nil) } catch { missing = error }
        }
        values[input.name, default: []].append(input.isFlag ? nil : text)
      }
    }
    if let missing { throw missing }
    for input in all where !input.isFlag && !input.isRepeating && values[input.name]?.count ?? 0 > 1
    {
      throw CommandError(.usage, "--\(input.name) is given twice; give it once")
    }
    let limit =
      all.contains { $0.isArgument && $0.isRepeating } ? .max : all.count(where: \.isArgument)
    if arguments.count > limit {
      let extra = arguments[limit...].map { "'\($0)'" }.joined(separator: ", ")
      throw CommandError(.usage, "there is no place for \(extra); \(help) shows what is accepted")
    }
  }

  /// Returns the option of a word such as `--format` or `-q`, or those of the letters of `-qv`.
  private func named(_ word: String) throws(CommandError) -> [Input] {
    if word.hasPrefix("--") {
      if let input = inputs[String(word.dropFirst(2))] { return [input] }
    } else {
      let letters = word.dropFirst().map { letter in
        inputs.values.first { $0.about.letter == letter }
      }
      let known = letters.compactMap { $0 }
      // Only the last of several letters may have a value.
      if known.count == letters.count, known.dropLast().allSatisfy(\.isFlag) { return known }
    }
    throw CommandError(.usage, unknown(word))
  }

  /// Returns the error for an option that the subcommand does not have, with a suggestion.
  private func unknown(_ option: String) -> String {
    let name = String(option.drop { $0 == "-" })
    let owners = InputCatalog.everyOwner(of: name)
    if let owner = owners.first, path.isEmpty {
      return
        "'\(option)' is an option of subcommands; write it after one, as in beaconscan \(owner) "
        + "\(option)"
    }
    if !owners.isEmpty {
      let verb = owners.count > 1 ? "have" : "has"
      return "\(path.joined(separator: " ")) has no option '\(option)', but "
        + "\(owners.joined(separator: ", ")) \(verb); \(help) lists all"
    }
    return "there is no option '\(option)'; "
      + (InputCatalog.suggestion(for: name, among: inputs.keys.sorted())
        .map { "did you mean '--\($0)'?" } ?? "\(help) lists all")
  }

  func has(_ option: String) -> Bool { values[option] != nil }

  /// Checks all values, and that nothing is missing that a file or a variable did not set.
  ///
  /// - Throws: `CommandError` for the first that is not valid.
  func check(with others: [String: GivenSetting] = [:]) throws(CommandError) {
    for input in all where !input.isArgument && !input.isFlag {
      for text in values[input.name] ?? [] { try input.check(text) }
    }
    for input in all where input.isRequired {
      let isThere =
        input.isArgument ? !arguments.isEmpty : has(input.name) || others[input.name] != nil
      guard isThere else {
        throw CommandError(
          .usage, input.absence + (input.isArgument ? "; \(help) shows what it is" : ""))
      }
    }
  }

  /// Adds the settings of files and variables, or others in place of these.
  mutating func set(_ settings: [String: GivenSetting]) {
    for (name, setting) in settings {
      if !setting.isFlag {
        values[name] = setting.values
      } else if setting.values == ["true"] {
        values[name] = [nil]
      }
    }
  }

  mutating func set(_ name: String, to texts: [String]) { values[name] = texts }
}

extension String {
  /// Whether the text can be the value of the option before it.
  fileprivate var isValue: Bool {
    guard hasPrefix("-"), self != "-" else { return true }
    let text = dropFirst()
    return text.first?.isNumber ?? false || text.first == "."
  }
}
