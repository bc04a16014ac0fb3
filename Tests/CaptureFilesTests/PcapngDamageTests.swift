import CaptureFiles
import Scanning
import Testing

/// pcapng whose lengths or magic numbers are wrong.
@Suite struct PcapngDamageTests {
  /// A good file with one packet, and a block behind it.
  private func read(_ order: ByteOrder, _ block: [UInt8]) throws -> (Reading, start: Int) {
    let file = PcapngFile(order: order)
    let front = joined(file.section, file.interface(), file.packet(Adverts.h4(1)))
    return (try Reading(front + block), front.count)
  }

  @Test(arguments: ByteOrder.both, [0, 4, 8, 11, 13, 14, 15, 33, 0xFFFF_FFFF] as [UInt32])
  func impossibleLengths(order: ByteOrder, length: UInt32) throws {
    for type in [6, 0xBAD] as [UInt32] {
      var block = PcapngFile(order: order).block(type, [UInt8](repeating: 0, count: 40))
      block.replaceSubrange(4..<8, with: order(length))
      let (reading, start) = try read(order, block)
      #expect(reading.minors == [1])
      #expect(reading.error?.problem == .damaged("a block's length cannot be right"))
      #expect(reading.error?.offset == start + 4)
    }
  }

  @Test(arguments: ByteOrder.both, [1, 2, 3, 6, 0x0A0D_0D0A] as [UInt32])
  func tooLong(order: ByteOrder, type: UInt32) throws {
    let body = order(0x1A2B_3C4D as UInt32) + [UInt8](repeating: 0, count: 100)
    var block = PcapngFile(order: order).block(type, body)
    block.replaceSubrange(4..<8, with: order(524_292 as UInt32))
    let (reading, start) = try read(order, block)
    #expect(reading.minors == [1])
    #expect(reading.error?.problem == .damaged("a block is longer than any packet"))
    #expect(reading.error?.offset == start + 4)
  }

  @Test(arguments: ByteOrder.both)
  func differentLengths(order: ByteOrder) throws {
    var block = PcapngFile(order: order).packet(Adverts.h4(2))
    block[block.count - (order.isBig ? 1 : 4)] += 4
    let (reading, start) = try read(order, block)
    #expect(reading.minors == [1])
    #expect(reading.error?.problem == .damaged("a block's two lengths differ"))
    #expect(reading.error?.offset == start + block.count - 4)
  }

  @Test(arguments: ByteOrder.both)
  func wrongByteOrderMagic(order: ByteOrder) throws {
    var block = PcapngFile(order: order).section
    block[9] ^= 1
    let (reading, start) = try read(order, block)
    #expect(reading.minors == [1])
    #expect(reading.error?.problem == .damaged("a section's byte-order magic is wrong"))
    #expect(reading.error?.offset == start + 8)
  }

  /// A packet whose captured length is more than its block holds.
  @Test(arguments: ByteOrder.both, [49, 52, 1000, 0xFFFF_FFFF] as [UInt32])
  func capturedLength(order: ByteOrder, length: UInt32) throws {
    let packet = Adverts.h4(2)
    let room = (packet.count + 3) / 4 * 4
    var enhanced = PcapngFile(order: order).packet(packet)
    enhanced.replaceSubrange(20..<24, with: order(length))
    var obsolete = PcapngFile(order: order).obsoletePacket(packet)
    obsolete.replaceSubrange(20..<24, with: order(length))
    for block in [enhanced, obsolete] {
      let (reading, start) = try read(order, block)
      #expect(reading.minors == [1])
      #expect(reading.error?.problem == .damaged("need \(length) more, have \(room)"))
      #expect(reading.error?.offset == start + 28)
    }
  }

  /// Blocks too short for what they are.
  @Test(arguments: ByteOrder.both, [1, 2, 3, 6] as [UInt32])
  func shortBlocks(order: ByteOrder, type: UInt32) throws {
    let fixed: [UInt32: Int] = [1: 8, 2: 20, 3: 4, 6: 20]
    for length in stride(from: 0, to: fixed[type] ?? 0, by: 4) {
      let block = PcapngFile(order: order).block(type, [UInt8](repeating: 0, count: length))
      let (reading, start) = try read(order, block)
      #expect(reading.minors == [1])
      let offset = try #require(reading.error?.offset)
      #expect((start..<start + block.count).contains(offset), "\(length)")
    }
  }

  /// Options that run past their block, and values too short for what they mean.
  @Test(arguments: ByteOrder.both)
  func interfaceOptions(order: ByteOrder) throws {
    let file = PcapngFile(order: order)
    let head = joined(order(187 as UInt16), [0, 0], order(0 as UInt32))
    for options in [
      order(2 as UInt16) + order(5 as UInt16) + [1, 2, 3, 4],
      file.option(9, []), file.option(14, [1, 2, 3, 4, 5, 6, 7]),
      order(9 as UInt16) + order(0xFFFF as UInt16),
    ] {
      let (reading, start) = try read(order, file.block(1, head + options))
      let offset = try #require(reading.error?.offset)
      #expect((start + 16...start + 30).contains(offset))
    }
    // An option that nobody knows, no end of options, a rest that is no option.
    for options in [file.option(0x7777, [1, 2, 3]), [], [0, 0]] {
      let (reading, _) = try read(order, file.block(1, head + options))
      #expect(reading.error == nil)
    }
  }
}
