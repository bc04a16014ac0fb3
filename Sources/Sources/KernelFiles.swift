import Glibc

// Reads the short texts of /proc and /sys without Foundation.

/// Returns a text file's contents, at most 64 KiB; `nil` if it cannot be read.
package func text(of path: String) -> String? {
  // The path's bytes are used only during the call.
  let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { return nil }
  defer { close(file) }
  var bytes = [UInt8](repeating: 0, count: 65536)
  var count = 0
  while count < bytes.count {
    // The array's memory is used only during the call.
    let got = unsafe bytes.withUnsafeMutableBytes { room in
      unsafe read(file, room.baseAddress?.advanced(by: count), room.count - count)
    }
    guard got > 0 else { break }
    count += got
  }
  return String(decoding: bytes[..<count], as: UTF8.self)
}

package func firstLine(of path: String) -> String? {
  text(of: path)?.split(separator: "\n", maxSplits: 1).first.map(String.init)
}

/// Returns the names in a directory, sorted; none if it cannot be read.
package func names(in directory: String) -> [String] {
  guard let handle = unsafe opendir(directory) else { return [] }
  defer { unsafe closedir(handle) }
  var names: [String] = []
  // An entry is valid until the next one is read.
  while let entry = unsafe readdir(handle) {
    let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
      unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
    }
    if name != ".", name != ".." { names.append(name) }
  }
  return names.sorted()
}

/// Returns the target of a symbolic link as it is written; `nil` if it cannot be read.
package func linkTarget(of path: String) -> String? {
  var bytes = [CChar](repeating: 0, count: 4096)
  // The array's memory is used only during the call.
  let count = unsafe readlink(path, &bytes, bytes.count)
  guard count > 0 else { return nil }
  return String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
}

package func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }
