import ArgumentParser
import Bytes
import Frontends

struct DecodeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "decode",
    abstract: "Decode one advert: its structures, the beacon in it, and what is wrong where.",
    discussion: """
      The bytes are hexadecimal, with or without spaces, colons or 0x. Their kind is recognized, \
      or given by --as. An advert without a beacon is not an error.

      EXAMPLES
        beaconscan decode 1aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c5
        beaconscan decode --format json --as h4 \\
          04:3e:2a:02:01:00:01:43:3e:a2:c9:6b:6a:1e:02:01:1a \\
          1aff4c000215e2c56db5dffb48d2b060d0f5a71096e000640000c5b3
        echo 4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c5 | beaconscan decode -
      """)

  @Argument(
    .text("hex", "The bytes; - reads them from standard input.", "hex", valid: "write bytes"),
    isRequired: true)
  var hex: [String]

  @Option(
    .choice(
      "as", "What the bytes are: auto, ad, manufacturer, h4, ll or command.", "kind",
      standard: .auto))
  var input: DecodeInput

  @OptionGroup(title: "Output") var form: FormatOptions
  @OptionGroup(title: "Input") var configuration: ConfigurationOption

  func run() throws {
    let lines = AnyIterator { readLine(strippingNewline: false) }
    let text = hex == ["-"] ? lines.joined() : hex.joined(separator: " ")
    let bytes: [UInt8]
    do throws(HexadecimalError) {
      bytes = try Hexadecimal.bytes(in: text)
    } catch {
      throw CommandError(.badData, "\(error); give pairs of the digits 0-9 and a-f")
    }
    guard !bytes.isEmpty else {
      throw CommandError(.badData, "there are no bytes to decode; give them in hexadecimal")
    }
    let output = StandardOutput()
    for description in AdvertDescription.all(in: bytes, as: input) {
      try output.write(description, form.format)
    }
    try output.flush()
  }
}
