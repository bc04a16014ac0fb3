import ArgumentParser
import Frontends

/// The option of every subcommand that reads the configuration.
struct ConfigurationOption: ParsableArguments {
  @Option(
    .file(
      "config", "The configuration file.",
      shown: "~/.config/beaconscan.toml and /etc/beaconscan.toml",
      endings: ["toml"]))
  var config: String?
}
