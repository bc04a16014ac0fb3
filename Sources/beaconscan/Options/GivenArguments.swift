public import ArgumentParser

/// The words of the command line.
struct GivenArguments {
  /// The words, with each negative number joined to its option, as in `--boundary=-67`: the parser takes a word that
  /// begins with a dash for an option.
  let words: [String]

  init(_ given: some Sequence<String>) {
    var words: [String] = []
    var isOver = false
    for word in given {
      if !isOver, let option = words.last, option.isLongOption, word.isNegativeNumber {
        words[words.count - 1] = "\(option)=\(word)"
      } else {
        words.append(word)
      }
      isOver = isOver || word == "--"
    }
    self.words = words
  }

  /// Checks the subcommand's name, of which the parser does not know what was meant.
  func checkSubcommand(
    of command: any ParsableCommand.Type, behind path: [String] = []
  ) throws(CommandError) {
    let subcommands = command.configuration.subcommands
    guard !subcommands.isEmpty, let name = words.dropFirst(path.count).first,
      !name.hasPrefix("-"), name != "help"
    else { return }
    if let next = subcommands.first(where: { $0._commandName == name }) {
      return try checkSubcommand(of: next, behind: path + [name])
    }
    func full(_ name: String) -> String { (path + [name]).joined(separator: " ") }
    let near = subcommands.map { $0._commandName }.min { name.edits(to: $0) < name.edits(to: $1) }
    let remedy =
      near.flatMap { name.edits(to: $0) <= 2 || $0.hasPrefix(name) ? full($0) : nil }
      .map { "did you mean '\($0)'?" }
      ?? (["beaconscan"] + path + ["--help lists all"]).joined(separator: " ")
    throw CommandError(.usage, "there is no subcommand '\(full(name))'; \(remedy)")
  }

  /// The words that name the subcommand; `nil` where there is none.
  var subcommand: String? {
    let names = words.prefix(words.first == "config" ? 2 : 1).prefix { !$0.hasPrefix("-") }
    return names.isEmpty ? nil : names.joined(separator: " ")
  }

  /// Checks that no option which has one value is given twice: the parser would use the last.
  func checkRepetition(in command: Any) throws(CommandError) {
    let options = Set(Self.singleOptions(of: command))
    var given: Set<Substring> = []
    for word in words.prefix(while: { $0 != "--" }) where word.isLongOption || word.contains("=") {
      let name = word.prefix { $0 != "=" }
      guard options.contains(String(name)) else { continue }
      guard given.insert(name).inserted else {
        throw CommandError(.usage, "\(name) is given twice; give it once")
      }
    }
  }

  /// The names of a command's options that have one value.
  private static func singleOptions(of command: Any) -> [String] {
    Mirror(reflecting: command).children.flatMap { child -> [String] in
      if let group = child.value as? any GroupOfOptions { return singleOptions(of: group.options) }
      guard let option = child.value as? any OptionWithValue, !option.hasSeveralValues,
        let label = child.label
      else { return [] }
      // A property wrapper's own property begins with an underscore.
      let name = label.dropFirst().map { $0.isUppercase ? "-\($0.lowercased())" : String($0) }
      return ["--" + name.joined()]
    }
  }
}

private protocol GroupOfOptions { var options: Any { get } }
extension OptionGroup: GroupOfOptions { fileprivate var options: Any { wrappedValue } }

private protocol OptionWithValue { var hasSeveralValues: Bool { get } }
extension Option: OptionWithValue {
  fileprivate var hasSeveralValues: Bool { Value.self is any SeveralValues.Type }
}

private protocol SeveralValues {}
extension Array: SeveralValues {}

extension String {
  fileprivate var isLongOption: Bool { hasPrefix("--") && count > 2 && !contains("=") }

  fileprivate var isNegativeNumber: Bool {
    let text = dropFirst()
    return hasPrefix("-") && (text.first?.isNumber ?? false || text.first == ".")
  }

  /// The number of characters to insert, remove or replace until this is the other text (Levenshtein's distance).
  func edits(to other: String) -> Int {
    var row = Array(0...other.count)
    for (line, character) in enumerated() {
      var diagonal = row[0]
      row[0] = line + 1
      for (column, otherCharacter) in other.enumerated() {
        let replaced = diagonal + (character == otherCharacter ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = Swift.min(replaced, row[column] + 1, row[column + 1] + 1)
      }
    }
    return row[other.count]
  }
}
