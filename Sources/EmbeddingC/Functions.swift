import Embedding
import Glibc
import Release

// The functions that beaconscan.h describes. A C object is a reference that was retained once.

/// A text for C, whose address stays valid until the next one.
@safe private struct CText: ~Copyable {
  private var bytes: UnsafeMutableBufferPointer<CChar>?

  init() { unsafe bytes = nil }

  deinit { unsafe bytes?.deallocate() }

  /// Replaces the text, and returns its address.
  mutating func keep(_ text: some Collection<UInt8>) -> UnsafePointer<CChar>? {
    let size = unsafe bytes?.count ?? 0
    if size <= text.count {
      unsafe bytes?.deallocate()
      unsafe bytes = .allocate(capacity: max(text.count + 1, 512))
    }
    guard let bytes = unsafe bytes else { return nil }
    for (index, byte) in text.enumerated() { unsafe bytes[index] = CChar(bitPattern: byte) }
    unsafe bytes[text.count] = 0
    return unsafe UnsafePointer(bytes.baseAddress)
  }
}

/// A `bs_options`.
@safe private final class Options {
  var values = EmbeddingOptions()
  private var error = CText()
  private(set) var errorText: UnsafePointer<CChar>?

  init() { unsafe errorText = nil }

  func fail(_ sentence: String) { unsafe errorText = error.keep(sentence.utf8) }
}

/// A `bs_scanner`.
private final class Scanner {
  let scanner: EmbeddedScanner
  /// The latest line of `bs_next`, which one thread at a time may call.
  private var line = CText()

  init(_ scanner: EmbeddedScanner) { self.scanner = scanner }

  func next() -> UnsafePointer<CChar>? {
    guard let bytes = scanner.next() else { return nil }
    return unsafe line.keep(bytes)
  }
}

private func object<Value: AnyObject>(_ pointer: UnsafeRawPointer?, _: Value.Type) -> Value? {
  unsafe pointer.map { unsafe Unmanaged<Value>.fromOpaque($0).takeUnretainedValue() }
}

/// Reads a text of C; `nil` if it is not UTF-8.
private func text(_ pointer: UnsafePointer<CChar>) -> String? {
  unsafe String(validatingCString: pointer)
}

/// The version, which is never changed or freed.
nonisolated(unsafe) private let versionText = unsafe UnsafePointer(strdup(release))

@_cdecl("bs_version")
package func version() -> UnsafePointer<CChar>? { unsafe versionText }

@_cdecl("bs_options_new")
package func newOptions() -> UnsafeMutableRawPointer? {
  unsafe Unmanaged.passRetained(Options()).toOpaque()
}

/// Sets an option; returns 0, or -1 if it is wrong.
@_cdecl("bs_options_set")
package func setOption(
  _ options: UnsafeMutableRawPointer?, _ name: UnsafePointer<CChar>?,
  _ value: UnsafePointer<CChar>?
) -> Int32 {
  guard let options = unsafe object(options, Options.self) else { return -1 }
  guard let name = unsafe name else {
    options.fail("the name of the option is NULL; name one, such as region")
    return -1
  }
  guard let name = unsafe text(name) else {
    options.fail("the name of the option is not UTF-8; name one, such as region")
    return -1
  }
  var given: String?
  if let value = unsafe value {
    given = unsafe text(value)
    guard given != nil else {
      options.fail("\(name): the value is not UTF-8; write it in UTF-8")
      return -1
    }
  }
  do throws(EmbeddingError) {
    try options.values.set(name, to: given)
    return 0
  } catch {
    options.fail("\(error)")
    return -1
  }
}

/// Returns the sentence about the last failure; `nil` if there was none.
@_cdecl("bs_error")
package func error(_ options: UnsafeRawPointer?) -> UnsafePointer<CChar>? {
  unsafe object(options, Options.self)?.errorText
}

@_cdecl("bs_options_free")
package func freeOptions(_ options: UnsafeMutableRawPointer?) {
  guard let options = unsafe options else { return }
  unsafe Unmanaged<Options>.fromOpaque(options).release()
}

@_cdecl("bs_start")
package func start(_ options: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let options = unsafe object(options, Options.self) else { return nil }
  do throws(EmbeddingError) {
    return unsafe Unmanaged.passRetained(Scanner(try EmbeddedScanner(options.values))).toOpaque()
  } catch {
    options.fail("\(error)")
    return nil
  }
}

@_cdecl("bs_fd")
package func descriptor(_ scanner: UnsafeRawPointer?) -> Int32 {
  unsafe object(scanner, Scanner.self)?.scanner.descriptor ?? -1
}

@_cdecl("bs_next")
package func next(_ scanner: UnsafeMutableRawPointer?) -> UnsafePointer<CChar>? {
  unsafe object(scanner, Scanner.self)?.next()
}

@_cdecl("bs_set_callback")
package func setCallback(
  _ scanner: UnsafeMutableRawPointer?,
  _ function: (@convention(c) (UnsafePointer<CChar>?, UnsafeMutableRawPointer?) -> Void)?,
  _ context: UnsafeMutableRawPointer?
) {
  guard let scanner = unsafe object(scanner, Scanner.self)?.scanner else { return }
  guard let function = unsafe function else { return scanner.setConsumer(nil) }
  // The program owns the memory at this address, which the library only passes on.
  nonisolated(unsafe) let context = unsafe context
  scanner.setConsumer { line in
    unsafe (line + [0]).withUnsafeBytes { bytes in
      unsafe function(bytes.assumingMemoryBound(to: CChar.self).baseAddress, context)
    }
  }
}

@_cdecl("bs_stop")
package func stop(_ scanner: UnsafeMutableRawPointer?) {
  guard let scanner = unsafe scanner else { return }
  unsafe Unmanaged<Scanner>.fromOpaque(scanner).takeRetainedValue().scanner.stop()
}
