import Foundation
import TestSupport
import Testing

/// `beaconscan record`, fed by recordings: what comes from a radio goes the same way.
@Suite(.blocking) struct RecordCommandTests {
  private let visitor = Command.capture("visitor.btsnoop")

  private func bytes(_ url: URL) throws -> [UInt8] { [UInt8](try Data(contentsOf: url)) }

  /// A btsnoop recording is itself again, by whatever format it went.
  @Test(arguments: [
    ["a.btsnoop"], ["a", "--format", "btmon"], ["a.pcapng"], ["a", "--format", "pcapng"],
  ])
  func thereAndBack(arguments: [String]) throws {
    let scratch = try Scratch()
    let options = arguments.joined(separator: " ")
    let run = try Command.shell(
      """
      beaconscan record --quiet --replay '\(visitor)' \(options) &&
      beaconscan record --quiet --replay \(arguments[0]) --format btsnoop back
      """, in: scratch.folder)
    #expect(run.status == 0 && run.error.isEmpty && run.output.isEmpty, "\(run.error)")
    #expect(try bytes(scratch.path("back")) == bytes(URL(filePath: visitor)))
  }

  /// The same sightings, with every field, in each recording that ships.
  @Test(arguments: ["lobby.btsnoop", "hostile.pcapng"], ["btsnoop", "btmon", "pcapng"])
  func sameSightings(name: String, format: String) throws {
    let scratch = try Scratch()
    let run = try Command.shell(
      """
      beaconscan record --quiet --replay '\(Command.capture(name))' --format \(format) a &&
      beaconscan scan --format csv --replay '\(Command.capture(name))' >before &&
      beaconscan scan --format csv --replay a >after
      """, in: scratch.folder)
    #expect(run.status == 0, "\(run.error)")
    func cut(_ name: String) throws -> [String] {
      try String(contentsOf: scratch.path(name), encoding: .utf8).split(separator: "\n").map(
        String.init)
    }
    #expect(try cut("after") == cut("before"))
    #expect(try cut("after").count > 500)
  }

  @Test func theSentences() throws {
    let scratch = try Scratch()
    let first = try Command.run("record", "--replay", visitor, "a.btsnoop", in: scratch.folder)
    #expect(first.status == 0 && first.output.isEmpty)
    #expect(
      first.error
        == "beaconscan: recorded 2084 packets, 130886 bytes, in a.btsnoop; received 1113 sightings of 3 beacons\n"
    )
    let second = try Command.run("record", "--replay", visitor, "a.btsnoop", in: scratch.folder)
    #expect(second.status == 73)
    #expect(
      second.error
        == "beaconscan: a.btsnoop: there is such a file already; name another, or replace it with --force\n"
    )
    #expect(try bytes(scratch.path("a.btsnoop")) == bytes(URL(filePath: visitor)))
    let third = try Command.run(
      "record", "--replay", visitor, "a.btsnoop", "--force", "--count", "7", in: scratch.folder)
    #expect(third.status == 0)
    #expect(third.error.hasPrefix("beaconscan: recorded 7 packets, "))
    let none = try Command.run("record", "--replay", visitor, "none/a", in: scratch.folder)
    #expect(none.status == 73)
    #expect(none.error.contains("none/a: cannot create it (No such file or directory)"))
    for place in [".", ". --force"] {
      let folder = try Command.shell(
        "beaconscan record --replay '\(visitor)' \(place)", in: scratch.folder)
      #expect(folder.status == 73)
      #expect(folder.error.contains("it is a directory; name a file in it"), "\(folder.error)")
    }
    // What cannot be opened leaves no recording.
    let missing = try Command.run("record", "--replay", "none/a", "b", in: scratch.folder)
    #expect(missing.status == 66)
    #expect(!FileManager.default.fileExists(atPath: scratch.path("b").path))
  }

  @Test func aSniffersRecording() throws {
    let scratch = try Scratch()
    let packet: [UInt8] = [0xD6, 0xBE, 0x89, 0x8E, 0x42, 0x06, 1, 2, 3, 4, 5, 6, 0, 0, 0]
    let record = [UInt8](repeating: 0, count: 8) + [15, 0, 0, 0, 15, 0, 0, 0] + packet
    let sniffed = try scratch.file("sniffed", Recording.pcapHeader(linkType: 251) + record)
    let run = try Command.run("record", "--replay", sniffed.path, "a", in: scratch.folder)
    #expect(run.status == 65)
    #expect(run.error.contains("it has 1 packet but no HCI packet"))
  }

  @Test func severalFiles() throws {
    let scratch = try Scratch()
    for _ in 0..<2 {
      let run = try Command.run(
        "record", "--replay", visitor, "site.btsnoop", "--rotate-size", "20K", "--rotate-every",
        "30s", "--keep", "5", in: scratch.folder)
      #expect(run.status == 0, "\(run.error)")
      #expect(run.error.contains("recorded 2084 packets"))
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).sorted()
    #expect(names.count == 5)
    #expect(
      names.allSatisfy {
        $0.wholeMatch(of: #/site-0000[0-9]{2}-20260115T090[01][0-9]{2}Z.btsnoop/#) != nil
      })
    for name in names { #expect(try bytes(scratch.path(name)).count <= 20480) }
  }

  /// What is no recording and comes through a pipe removes no file that was there.
  @Test(arguments: ["- > /dev/null", "--force link", "--force old"])
  func ofNoRecording(arguments: String) throws {
    let scratch = try Scratch()
    let run = try Command.shell(
      "touch 'standard output' old; ln -s old link; "
        + "echo 'this is no recording' | beaconscan record --replay - \(arguments)",
      in: scratch.folder)
    #expect(run.status == 65, "\(run.error)")
    let left = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
    #expect(left.sorted() == ["link", "old", "standard output"])
  }

  /// That nothing can be written is reported before anything is received.
  @Test func severalFilesWhereNoneCanBeMade() throws {
    let scratch = try Scratch()
    // Modes of directories bind root too without this capability.
    let user = getuid() == 0 ? "setpriv --bounding-set -dac_override" : ""
    let run = try Command.shell(
      "mkdir shut; chmod 555 shut; cat '\(visitor)' 2>/dev/null | \(user) $(command -v beaconscan) record"
        + " --replay - shut/site.btsnoop --rotate-size 20K", in: scratch.folder)
    #expect(run.status == 73, "\(run.error)")
    #expect(run.error.split(separator: "\n").count == 1)
    #expect(run.error.contains("check the directory and its permissions"), "\(run.error)")
  }

  @Test func standardOutput() throws {
    let whole = try Command.shell(
      "beaconscan record --quiet --replay '\(visitor)' - | cmp - '\(visitor)' && echo same")
    #expect(whole.output == "same\n" && whole.error.isEmpty)
    let closed = try Command.shell(
      "{ beaconscan record --replay '\(visitor)' -; echo $? >&2; } | true")
    #expect(closed.error == "0\n", "\(closed.error)")
  }

  @Test(arguments: [
    "", "a --keep 3 --replay b", "a --rotate-size 10 --replay b",
    "a --rotate-size 5X --replay b",
    "a --rotate-size 99999999999G --replay b", "a --rotate-every 0s --replay b",
    "a --rotate-every -1h --replay b", "a --rotate-size 1M --keep 0 --replay b",
    "- --rotate-size 1M --replay b", "a --count 0 --replay b", "a --replay b --replay c",
    "a --replay b --speed 1x", "a --format csv --replay b", "a --replay b --adapter hci0",
    "'' --replay b",
  ])
  func usage(arguments: String) throws {
    let scratch = try Scratch()
    let run = try Command.shell("beaconscan record \(arguments)", in: scratch.folder)
    #expect(run.status == 64, "\(run.error)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).isEmpty)
  }

  @Test func overItself() throws {
    let scratch = try Scratch()
    _ = try scratch.file("a", try Recording.head(20000))
    let run = try Command.shell(
      "ln -s a b; beaconscan record --force --replay a b", in: scratch.folder)
    #expect(run.status == 64 && run.error.contains("cannot be read and written at once"))
    #expect(try bytes(scratch.path("a")).count == 20000)
  }

  /// What stood before a cut is recorded, whole, and the cut is said.
  @Test func aCutRecording() throws {
    let scratch = try Scratch()
    let cut = try scratch.file("cut", try Recording.head(20_000))
    let run = try Command.run("record", "--replay", cut.path, "a", in: scratch.folder)
    #expect(run.status == 65 && run.error.contains("the recording was cut short"))
    let recorded = try bytes(scratch.path("a"))
    #expect(try recorded == Recording.head(recorded.count) && recorded.count > 19_000)
  }

  /// An interrupt ends it cleanly: the file is whole.
  @Test func interrupted() throws {
    let scratch = try Scratch()
    let file = scratch.path("a")
    let running = try Running("record", "--follow", "--replay", visitor, file.path)
    let whole = try bytes(URL(filePath: visitor))
    try running.wait { (try? bytes(file))?.count == whole.count }
    running.interrupt()
    let run = try running.finish()
    #expect(run.status == 0)
    #expect(run.error.contains("recorded 2084 packets"))
    #expect(try bytes(file) == whole)
  }

  /// A file that may not grow, without a root's disk: said once, whole packets alone, status 74.
  @Test func aDiskThatIsFull() throws {
    let scratch = try Scratch()
    let one = try bytes(URL(filePath: visitor))
    let long = one + (0..<15).flatMap { _ in one.dropFirst(16) }
    _ = try scratch.file("long", long)
    // A megabyte: ThreadSanitizer itself needs as much.
    let run = try Command.shell(
      "trap '' XFSZ; ulimit -f 2048; exec beaconscan record --replay long a", in: scratch.folder)
    #expect(run.status == 74)
    let lines = run.error.split(separator: "\n")
    #expect(lines.count == 3, "\(run.error)")
    #expect(lines.first?.contains("a: cannot record (File too large)") == true)
    #expect(lines.first?.contains("make room there") == true)
    #expect(lines.last?.contains("packets were not recorded") == true)
    // A few packets may still find room where many did not.
    let read = try Command.run("inspect", "--json", "a", in: scratch.folder)
    #expect(read.status == 0)
    let packets = try #require(read.json().first { $0["type"] as? String == "summary" })["packets"]
    let lost = lines.last?.split { !$0.isNumber }.compactMap { Int($0) }
    #expect(try #require(packets as? Int) + #require(lost?.first) == 16 * 2084)
    let size = try bytes(scratch.path("a")).count
    #expect(size <= 1 << 20 && size > 1 << 20 - 100)
  }

  /// Killed while it records: what came more than a second before is there, and nothing half. The file is
  /// written twice a second, or as seldom as it is seen to grow on a busy machine.
  @Test(arguments: ["btsnoop", "btmon", "pcapng"], [30, 37])
  func killed(format: String, after pieces: Int) throws {
    let scratch = try Scratch()
    // The header and 40 pieces of 20 packets of 69 bytes or so, wherever they are cut.
    let whole = try bytes(URL(filePath: visitor))
    let size = 60_000 / 40
    for piece in 0..<40 {
      _ = try scratch.file("piece\(piece)", Array(whole[(piece * size)..<((piece + 1) * size)]))
    }
    let run = try Command.shell(
      """
      mkfifo pipe; exec 3<>pipe
      beaconscan record --quiet --format \(format) --replay - a <pipe 3<&- & record=$!
      until [ -e a ]; do kill -0 $record || exit 1; sleep 0.05; done
      (n=0; while [ $n -lt 40 ]; do
        cat piece$n >pipe; echo "$(date +%s%N) $n" >>fed; n=$((n+1)); sleep 0.1; done) &
      feed=$!
      (while :; do echo "$(date +%s%N) $(stat -c %s a)" >>grown; sleep 0.05; done) &
      watch=$!
      until [ -e fed ] && [ $(wc -l <fed) -ge \(pieces) ]; do sleep 0.05; done
      date +%s%N >killed; kill -KILL $record; kill $feed $watch; wait
      """, in: scratch.folder)
    #expect(run.status == 0, "\(run.error)")
    func lines(_ name: String) throws -> [[Int]] {
      try String(contentsOf: scratch.path(name), encoding: .utf8).split(separator: "\n")
        .map { $0.split(separator: " ").compactMap { Int($0) } }
    }
    let end = try #require(try lines("killed").first?.first)
    var (longest, length, since) = (0, 0, try #require(try lines("fed").first?.first))
    for line in try lines("grown") + [[end, .max]] where line.count == 2 && line[0] > since {
      longest = max(longest, line[0] - since)
      if line[1] != length { (since, length) = (line[0], line[1]) }
    }
    let old = end - longest - 700_000_000
    let fed = try lines("fed").filter { $0.count == 2 && $0[0] < old }.map { $0[1] + 1 }.max() ?? 0
    print("the file grew every \(longest / 1_000_000) ms at least; \(fed) pieces were fed before")
    let back = try Command.run(
      "record", "--quiet", "--replay", "a", "--format", "btsnoop", "back", in: scratch.folder)
    // Half a packet may stand at its end.
    #expect(
      back.status == 0 || back.status == 65 && back.error.contains("cut short"), "\(back.error)")
    let recorded = try bytes(scratch.path("back"))
    #expect(recorded == Array(whole.prefix(recorded.count)))
    // The piece's last packet may have come with the next.
    #expect(recorded.count > fed * size - 100, "\(recorded.count) bytes of \(fed * size)")
  }
}
