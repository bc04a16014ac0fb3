import ArgumentParser

struct GivenArguments {
  /// The words of the command line. A negative number is joined to its option, as in
  /// `--boundary=-67`, since the parser takes a word that starts with a dash for an option.
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

  /// Checks the name of the subcommand, and suggests a similar one.
  func checkSubcommand(
    of command: any ParsableCommand.Type, behind path: [String] = []
  ) throws(CommandError) {
    let subcommands = command.configuration.subcommands
    guard !subcommands.isEmpty, let name = words.dropFirst(path.count).first,
      !name.hasPrefix("-"), name != "help" || !path.isEmpty
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

  var subcommand: String? {
    let names = words.prefix(words.first == "config" ? 2 : 1).prefix { !$0.hasPrefix("-") }
    return names.isEmpty ? nil : names.joined(separator: " ")
  }

  /// Checks that every word is UTF-8. Others would be repaired, and might name another file.
  static func checkEncoding() throws(CommandError) {
    let places = 0..<Int(CommandLine.argc)
    // The runtime keeps the original words.
    let text = places.lazy.compactMap { place in
      unsafe CommandLine.unsafeArgv[place].flatMap { word in
        unsafe String(validatingCString: word) == nil ? unsafe String(cString: word) : nil
      }
    }.first
    guard let word = text else { return }
    throw CommandError(
      .usage,
      "'\(word)' is not UTF-8; rename the file, or give a recording on standard input, as in "
        + "beaconscan scan - < FILE")
  }

  /// Reports two faults that the parser ignores: an option with one value that is given twice, and
  /// a flag with an equals sign.
  func check(for command: any ParsableCommand) throws(CommandError) {
    let given = words.prefix { $0 != "--" }.filter { $0.hasPrefix("-") && $0.count > 1 }
    let names = given.map { $0.prefix { $0 != "=" } }
    // Asking the parser takes milliseconds, so only suspicious words are checked.
    guard
      Set(names).count < names.count
        || given.contains(where: { $0.hasSuffix("=") || !$0.hasPrefix("--") })
    else { return }
    for option in OptionCatalog.everyOption(of: type(of: command)) {
      let words = given.filter(option.isGiven)
      if option.isFlag, let word = words.first(where: { $0.hasSuffix("=") }) {
        throw CommandError(.usage, flagSentence(String(word.dropLast()), ""))
      }
      if !option.isFlag, !option.isRepeating, words.count > 1 {
        throw CommandError(.usage, "--\(option.name ?? "") is given twice; give it once")
      }
    }
  }
}

extension String {
  fileprivate var isLongOption: Bool { hasPrefix("--") && count > 2 && !contains("=") }

  fileprivate var isNegativeNumber: Bool {
    let text = dropFirst()
    return hasPrefix("-") && (text.first?.isNumber ?? false || text.first == ".")
  }

  /// Returns the Levenshtein distance to another text.
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
