import ArgumentParser
import Frontends
import Records

/// A subcommand whose short help has all options of a section.
protocol MainSection {
  static var mainSection: String { get }
}

/// The help of a subcommand: what fits a screen, or all of it.
struct HelpScreen {
  /// The lines that a screen has.
  static let height = 50

  private let command: any ParsableCommand.Type
  private let title: String
  private let width: Int

  init(_ command: any ParsableCommand.Type, path: [String], width: Int = 80) {
    self.command = command
    title = (["beaconscan"] + path).joined(separator: " ")
    self.width = width
  }

  /// Returns the common options and examples, or everything if it is wanted or fits a screen.
  func lines(isWhole: Bool) -> [String] {
    let whole = paragraphs + usage + sections(isWhole: true)
    guard !isWhole, whole.count > Self.height else { return whole }
    let more = Input.all(of: command).count { !isShown($0) }
    return command.configuration.abstract.wrapped(to: width) + usage
      + sections(isWhole: false) + [""] + examples.prefix(2).flatMap { $0 } + [""]
      + "\(title) --help-all explains how it works, and has \(more) more options.".wrapped(
        to: width)
  }

  private func isShown(_ input: Input) -> Bool {
    let main = (command as? any MainSection.Type)?.mainSection
    return !input.about.isRare || input.section != nil && input.section == main
  }

  private var usage: [String] {
    let arguments = Input.all(of: command).filter(\.isArgument).map { input in
      let name = input.isRepeating ? "<\(input.name)> ..." : "<\(input.name)>"
      return input.isRequired ? name : "[\(name)]"
    }
    return ["", "USAGE: " + ([title, "[<options>]"] + arguments).joined(separator: " ")]
  }

  private var discussion: [Substring] {
    command.configuration.discussion.split(separator: "\n", omittingEmptySubsequences: false)
  }

  private var paragraphs: [String] {
    var lines = command.configuration.abstract.wrapped(to: width) + [""]
    for line in discussion {
      lines +=
        line.isEmpty || line.hasPrefix(" ") ? [String(line)] : String(line).wrapped(to: width)
    }
    return lines
  }

  private var examples: [[String]] {
    var examples: [[String]] = []
    for line in discussion.drop(while: { $0 != "EXAMPLES" }).prefix(while: { !$0.isEmpty }) {
      if examples.count > 1, examples.last?.last?.hasSuffix("\\") == true {
        examples[examples.count - 1].append(String(line))
      } else {
        examples.append([String(line)])
      }
    }
    return examples
  }

  private func sections(isWhole: Bool) -> [String] {
    var titles: [String] = []
    var inputs: [String: [Input]] = [:]
    for input in Input.all(of: command) where isWhole || isShown(input) {
      let title =
        input.about.name == "files" ? "INPUT" : input.section?.uppercased() ?? "OPTIONS"
      if inputs[title] == nil { titles.append(title) }
      inputs[title, default: []].append(input)
    }
    return titles.flatMap { title in
      (isWhole || title == titles.first ? [""] : []) + [title + ":"]
        + (inputs[title] ?? []).flatMap { lines(of: $0, isWhole: isWhole) }
    }
  }

  private func lines(of input: Input, isWhole: Bool) -> [String] {
    let about = input.about
    let names =
      input.isArgument
      ? "<\(about.name)>" : (about.letter.map { "-\($0), " } ?? "") + "--\(about.name)"
    let label = "  " + names + (input.isArgument ? "" : about.syntax.map { " <\($0)>" } ?? "")
    let text = about.explanation + (isWhole ? about.details.map { " " + $0 } ?? "" : "")
    let indent = 26
    var lines = text.wrapped(to: width - indent).map { String(repeating: " ", count: indent) + $0 }
    if label.count < indent, let first = lines.first {
      lines[0] = label + first.dropFirst(label.count)
    } else {
      lines.insert(label, at: 0)
    }
    return lines
  }
}
