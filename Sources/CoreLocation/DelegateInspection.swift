import Foundation
import Synchronization

/// Finds methods of a delegate that are never called, because the class inherits its conformance.
///
/// The compiler builds the witness table in the class that declares the conformance. A method that
/// a subclass adds is not in it, and only the Objective-C runtime could find it. An optimized build
/// even removes its code, but the symbol table of a debug build has its name.
enum DelegateInspection {
  private static let inspected = Mutex<Set<ObjectIdentifier>>([])

  /// Reports in a sentence, once for each class, the methods of a delegate that are never called.
  static func inspect(_ delegate: AnyClass, _ report: (String) -> Void) {
    guard inspected.withLock({ $0.insert(ObjectIdentifier(delegate)).inserted }) else { return }
    var conforming: AnyClass = delegate
    var added: Set<String> = []
    while let parent = _getSuperclass(conforming), parent is any CLLocationManagerDelegate.Type {
      guard let methods = methods(of: conforming) else { return }
      added.formUnion(methods)
      conforming = parent
    }
    guard !added.isEmpty else { return }
    guard let known = methods(of: conforming) else { return }
    added.subtract(known)
    var ancestor: AnyClass? = _getSuperclass(conforming)
    while let current = ancestor {
      added.subtract(methods(of: current) ?? [])
      ancestor = _getSuperclass(current)
    }
    guard !added.isEmpty else { return }
    report(
      """
      \(delegate) inherits its conformance to CLLocationManagerDelegate from \(conforming), so its methods \
      \(added.sorted().joined(separator: ", ")) are never called: implement them in \(conforming) and \
      override them, or declare the conformance in \(delegate) instead.
      """)
  }

  /// Returns the delegate methods that a class itself implements; `nil` if the executable does not
  /// contain the class or has no symbol table.
  private static func methods(of type: AnyClass) -> Set<String>? {
    guard let name = _mangledTypeName(type), let symbols = symbols(prefix: "$s" + name) else {
      return nil
    }
    var methods: Set<String> = []
    for symbol in symbols where symbol.hasSuffix("F") {
      guard let text = demangled(symbol) else { continue }
      let method = requirements.first { method in
        let parts = method.split { "(:)".contains($0) }
        return text.contains(".\(parts[0])(")
          && parts.dropFirst().allSatisfy { $0 == "_" || text.contains("\($0): ") }
      }
      if let method { methods.insert(method) }
    }
    return methods
  }

  private static let requirements = [
    "locationManagerDidChangeAuthorization(_:)", "locationManager(_:didChangeAuthorization:)",
    "locationManager(_:didFailWithError:)", "locationManager(_:didStartMonitoringFor:)",
    "locationManager(_:monitoringDidFailFor:withError:)", "locationManager(_:didEnterRegion:)",
    "locationManager(_:didExitRegion:)", "locationManager(_:didDetermineState:for:)",
    "locationManager(_:didRange:satisfying:)", "locationManager(_:didFailRangingFor:error:)",
    "locationManager(_:didRangeBeacons:in:)",
    "locationManager(_:rangingBeaconsDidFailFor:withError:)",
    "locationManager(_:didUpdateLocations:)", "locationManager(_:didUpdateTo:from:)",
    "locationManagerDidPauseLocationUpdates(_:)", "locationManagerDidResumeLocationUpdates(_:)",
    "locationManager(_:didFinishDeferredUpdatesWithError:)", "locationManager(_:didUpdateHeading:)",
    "locationManagerShouldDisplayHeadingCalibration(_:)", "locationManager(_:didVisit:)",
  ]

  /// Returns the names with a prefix in the executable's symbol table; `nil` if there are none.
  private static func symbols(prefix: String) -> [String]? {
    let executable = URL(filePath: "/proc/self/exe")
    guard let file = try? Data(contentsOf: executable, options: .mappedIfSafe) else { return nil }
    let symbols = unsafe file.withUnsafeBytes { bytes in
      unsafe ELF(bytes: bytes).symbols(prefix: Array(prefix.utf8))
    }
    return symbols.isEmpty ? nil : symbols
  }

  private static func demangled(_ symbol: String) -> String? {
    guard let text = unsafe swiftDemangle(symbol, symbol.utf8.count, nil, nil, 0) else {
      return nil
    }
    defer { unsafe free(text) }
    return unsafe String(cString: text)
  }
}

/// The Swift runtime's demangler. The caller frees the result.
@_silgen_name("swift_demangle")
private func swiftDemangle(
  _ name: UnsafePointer<CChar>, _ length: Int, _ buffer: UnsafeMutablePointer<CChar>?,
  _ size: UnsafeMutablePointer<Int>?, _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?

/// A 64-bit ELF file (System V gABI, chapters 4 and 5). Parts beyond the file's end are ignored.
@unsafe private struct ELF {
  let bytes: UnsafeRawBufferPointer

  /// Returns the names in the symbol table that begin with a prefix.
  func symbols(prefix: [UInt8]) -> [String] {
    guard unsafe bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2]),
      let sections = unsafe number(UInt64.self, at: 0x28),
      let count = unsafe number(UInt16.self, at: 0x3C)
    else { return [] }
    for index in 0..<count {
      let header = sections &+ index * 64
      guard unsafe number(UInt32.self, at: header &+ 4) == 2,
        let start = unsafe number(UInt64.self, at: header &+ 24),
        let length = unsafe number(UInt64.self, at: header &+ 32),
        let link = unsafe number(UInt32.self, at: header &+ 40),
        let names = unsafe number(UInt64.self, at: sections &+ link &* 64 &+ 24)
      else { continue }
      return unsafe stride(from: 0, to: min(length, bytes.count), by: 24).compactMap { offset in
        guard let name = unsafe number(UInt32.self, at: start &+ offset) else { return nil }
        return unsafe text(at: names &+ name, prefix: prefix)
      }
    }
    return []
  }

  private func number<Number: FixedWidthInteger>(_ type: Number.Type, at offset: Int) -> Int? {
    let last = unsafe bytes.count - MemoryLayout<Number>.size
    guard offset >= 0, offset <= last else { return nil }
    return Int(exactly: unsafe bytes.loadUnaligned(fromByteOffset: offset, as: type))
  }

  private func text(at offset: Int, prefix: [UInt8]) -> String? {
    guard unsafe bytes.indices.contains(offset) else { return nil }
    let rest = unsafe bytes[offset...]
    guard unsafe rest.starts(with: prefix) else { return nil }
    return unsafe String(decoding: rest.prefix { $0 != 0 }, as: UTF8.self)
  }
}
