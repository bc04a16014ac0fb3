import ArgumentParser
import Frontends

struct ConfigurationOption: ParsableArguments {
  @Option(
    .file(
      "config", "The configuration file.",
      shown: "~/.config/beaconscan.toml and /etc/beaconscan.toml",
      endings: ["toml"]))
  var config: String?
}
