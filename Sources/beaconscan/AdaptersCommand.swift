import ArgumentParser
import Frontends
import LiveScanning
import Records

struct AdaptersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "adapters",
    abstract: "Show the Bluetooth adapters, how they are, and what they can do.",
    discussion: """
      STATE is up, down, soft-blocked or hard-blocked (by rfkill), held (by a program that has the \
      adapter for itself) or not-answering. A controller reports nothing of itself while it is off, \
      and its Low Energy features only to a process with CAP_NET_RAW; standard error has what is \
      missing, and why.

      EXAMPLES
        beaconscan adapters
        beaconscan adapters --format json
      """)

  @OptionGroup(title: "Output") var form: FormatOptions
  @OptionGroup(title: "Input") var configuration: ConfigurationOption

  @Flag(Inputs.quiet.rare) var quiet: Bool

  func run() throws {
    guard let adapters = try? Adapter.all(), !adapters.isEmpty else {
      let finding = Doctor.obstacle(in: Doctor.examine(.current()))
      throw CommandError(.unavailable, finding?.sentence ?? "there was no adapter; try again")
    }
    let radios = adapters.map { HostView.Radio.look(at: $0) }
    let out = StandardOutput()
    // The kernel does not tell which adapter a socket belongs to.
    let programs = HCIPrograms.current()
    try out.write(radios.map { ($0, programs) }, HostView.Radio.record, form.format)
    let others = "\(programs)"
    if form.format == .table, !others.isEmpty {
      try out.write("programs with HCI sockets: \(others)\n")
    }
    try out.flush()
    guard !quiet else { return }
    for radio in radios {
      if let unknown = radio.unknown {
        printError("\(radio.adapter.name): not all is known: \(unknown)")
      }
    }
  }
}
