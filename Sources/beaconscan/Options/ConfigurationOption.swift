import ArgumentParser

/// The option of every subcommand that reads the configuration.
struct ConfigurationOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The configuration file. (default: ~/.config/beaconscan.toml and /etc/beaconscan.toml)",
      valueName: "file"), completion: .file(extensions: ["toml"]))
  var config: String?
}
