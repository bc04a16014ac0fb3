// Bytes as hexadecimal text. Input: text in UTF-8.

import Bytes

func check(_ bytes: [UInt8]) {
  let text = unsafe Hexadecimal.text(of: bytes.span.bytes)
  require(text.utf8.count == 2 * bytes.count, "\(text) has another length")
  require((try? Hexadecimal.bytes(in: text)) == bytes, "bytes do not survive a round trip")
  require((try? Hexadecimal.bytes(in: text.uppercased())) == bytes, "upper case is read otherwise")
  let apart = text.enumerated().map { ($0.offset % 2 == 0 ? " 0x" : "") + String($0.element) }
  require((try? Hexadecimal.bytes(in: apart.joined())) == bytes, "0x is read otherwise")

  let input = String(decoding: bytes, as: UTF8.self)
  let digits = input.unicodeScalars.filter { $0.isASCII && $0.properties.isASCIIHexDigit }.count
  do throws(HexadecimalError) {
    let read = try Hexadecimal.bytes(in: input)
    require(2 * read.count <= digits, "\(read.count) bytes of \(digits) digits")
    require(
      input.unicodeScalars.allSatisfy {
        $0.properties.isASCIIHexDigit || $0.properties.isWhitespace
          || ":-,_xX".unicodeScalars.contains($0)
      }, "a character that is neither a digit nor a separator was passed over")
    let again = unsafe Hexadecimal.text(of: read.span.bytes)
    require((try? Hexadecimal.bytes(in: again)) == read, "what was read does not survive")
  } catch {
    require((1...max(1, input.count)).contains(error.place), "\(error) is outside the text")
    if case .notADigit(let character) = error.problem {
      let index = input.index(input.startIndex, offsetBy: error.place - 1)
      require(input[index] == character, "\(error): another character stands there")
    }
  }
}
