import ArgumentParser

struct GivenArguments {
  let words: [String]

  init(_ given: some Sequence<String>) { words = Array(given) }

  /// Returns the subcommand, and the words of its name.
  func subcommand(
    of command: any ParsableCommand.Type = Beaconscan.self
  ) -> (command: any ParsableCommand.Type, path: [String]) {
    var found: (command: any ParsableCommand.Type, path: [String]) = (command, [])
    for word in words {
      guard let next = found.command.configuration.subcommands.first(where: { $0.name == word })
      else { break }
      found = (next, found.path + [word])
    }
    return found
  }

  /// Writes the help of a subcommand, if it is wanted. The parser has that of the command.
  func showHelp() throws -> Bool {
    let options = words.prefix { $0 != "--" }
    let isWhole = options.contains("--help-all")
    let isCommand = words.first == "help"
    guard isWhole || isCommand || options.contains("--help") || options.contains("-h") else {
      return false
    }
    let (command, path) = GivenArguments(isCommand ? words.dropFirst() : words[...]).subcommand()
    guard command.configuration.subcommands.isEmpty else { return false }
    let out = StandardOutput()
    let screen = HelpScreen(command, path: path, width: min(out.width ?? 80, 100))
    try out.write(lines: screen.lines(isWhole: isWhole))
    try out.flush()
    return true
  }

  /// Whether the parser answers the words itself, as it does for help.
  var areOfParser: Bool {
    words.prefix { $0 != "--" }.contains {
      ["--help", "--help-all", "-h", "--version"].contains($0) || $0.hasPrefix("--generate-")
        || $0.hasPrefix("--experimental-")
    } || words.first == "help"
  }

  /// Checks the name of the subcommand, and suggests a similar one.
  func checkSubcommand(
    of command: any ParsableCommand.Type, after path: [String] = []
  ) throws(CommandError) {
    let subcommands = command.configuration.subcommands
    let isHelp = words.first == "help"
    guard !subcommands.isEmpty, let name = words.dropFirst(path.count + (isHelp ? 1 : 0)).first,
      !name.hasPrefix("-")
    else { return }
    if let next = subcommands.first(where: { $0.name == name }) {
      return try checkSubcommand(of: next, after: path + [name])
    }
    func full(_ name: String) -> String { (path + [name]).joined(separator: " ") }
    let typed = name.lowercased()
    let near = subcommands.map { $0.name }.min { typed.edits(to: $0) < typed.edits(to: $1) }
    let remedy =
      near.flatMap { typed.edits(to: $0) <= 2 || $0.hasPrefix(typed) ? full($0) : nil }
      .map { "did you mean '\($0)'?" }
      ?? (["beaconscan"] + path + ["--help lists all"]).joined(separator: " ")
    throw CommandError(.usage, "there is no subcommand '\(full(name))'; \(remedy)")
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
}

extension String {
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
