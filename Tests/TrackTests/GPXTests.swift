import LocationSources
import Positioning
import Testing

/// GPX.
@Suite struct GPXTests {
  private func gpx(_ body: String) -> String {
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<gpx version=\"1.1\"><trk><trkseg>\(body)</trkseg></trk></gpx>"
  }

  private func point(_ body: String) -> String {
    "<trkpt lat='48.5' lon=\"11.25\">\(body)</trkpt>"
  }

  @Test(arguments: [
    "<extensions><speed>2.5</speed><course>45</course><accuracy>7</accuracy></extensions>",
    """
    <extensions><gpxtpx:TrackPointExtension><gpxtpx:speed>2.5</gpxtpx:speed><gpxtpx:course>45</gpxtpx:course>\
    </gpxtpx:TrackPointExtension><x:accuracy_horizontal>7</x:accuracy_horizontal></extensions>
    """,
    "<speed>2.5</speed><course>405</course><extensions><a:hAcc>7.0</a:hAcc></extensions>",
    "<extensions><!-- <speed>9</speed> --><osmand:speed><![CDATA[2.5]]></osmand:speed><bearing> &#52;5 </bearing><Accuracy>7</Accuracy></extensions>",
  ])
  func extensionsOfAppsAreRead(body: String) throws {
    let decoded = Decoded(
      gpx(point("<ele>500</ele><time>2024-02-01T12:00:00.25Z</time>" + body)), .gpx)
    let fix = try #require(decoded.fixes.first)
    #expect(fix.speed == 2.5 && fix.course == 45 && fix.horizontalAccuracy == 7)
    #expect(fix.altitude == 500 && fix.place == Coordinate(latitude: 48.5, longitude: 11.25))
    #expect(decoded.times == ["2024-02-01T12:00:00.250Z"])
  }

  @Test(arguments: [
    ("2024-02-01T12:00:00Z", "2024-02-01T12:00:00.000Z"),
    ("2024-02-01T12:00:00", "2024-02-01T12:00:00.000Z"),
    ("2024-02-01T13:30:00.5+01:30", "2024-02-01T12:00:00.500Z"),
    ("2024-01-31T23:00:00.123456789-0200", "2024-02-01T01:00:00.123Z"),
    ("2024-02-01T14:00:00+02", "2024-02-01T12:00:00.000Z"),
  ])
  func timesAreUTC(text: String, time: String) {
    #expect(Decoded(gpx(point("<time>\(text)</time>")), .gpx).times == [time])
  }

  @Test(arguments: [
    ("<time>yesterday</time>", TrackOddity.malformed), ("", .undated),
    ("<time>2024-02-30T12:00:00Z</time>", .malformed),
    ("<time>2024-02-01T12:00:00Z</time><fix>none</fix>", .noFix),
    ("<time>2024-02-01T12:00:00Z</time><ele>high</ele>", .malformed),
  ])
  func aPointThatIsNoFixIsCounted(body: String, oddity: TrackOddity) {
    let decoded = Decoded(gpx(point(body)), .gpx)
    #expect(decoded.fixes.isEmpty && decoded.oddities == [oddity: 1])
  }

  @Test func whatAppsWriteForUnknownIsNone() throws {
    let decoded = Decoded(
      gpx(
        point(
          "<ele>NaN</ele><time>2024-02-01T12:00:00Z</time><speed>-1.0</speed><course>-1</course><hdop>-1</hdop>"
        )), .gpx)
    let fix = try #require(decoded.fixes.first)
    #expect(fix.altitude == nil && fix.speed == nil && fix.course == nil)
    #expect(fix.horizontalAccuracy == 50 && decoded.oddities == [:])
  }

  @Test func aDocumentTypeThatDeclaresNothingIsPassedOver() {
    let text = gpx(point("<time>2024-02-01T12:00:00Z</time>"))
    let decoded = Decoded(
      text.replacing("<gpx", with: "<!DOCTYPE gpx SYSTEM \"http://example.com/gpx.dtd\">\n<gpx"),
      .gpx)
    #expect(decoded.fixes.count == 1 && decoded.fault == nil && decoded.isComplete)
  }

  @Test func whiteSpaceBeforeATextHasNoLimit() {
    let space = String(repeating: "\n      ", count: 100)
    #expect(
      Decoded(gpx(point("<time>\(space)2024-02-01T12:00:00Z\(space)</time>")), .gpx).times
        == ["2024-02-01T12:00:00.000Z"])
  }

  /// A search for the end of each reference through the rest of the tag would take 2,000,000,000 steps for each of these.
  @Test func referencesWithoutAnEndAreReadInOneGo() {
    let ampersands = String(repeating: "&", count: 60_000)
    let decoded = Decoded(
      gpx(String(repeating: "<wpt name='\(ampersands)'/>", count: 20)), .gpx)
    #expect(decoded.oddities == [.notRecorded: 20])
  }

  @Test func aFixInThePlaneHasNoAltitude() {
    let decoded = Decoded(
      gpx(point("<ele>500</ele><time>2024-02-01T12:00:00Z</time><fix>2d</fix><hdop>2</hdop>")), .gpx
    )
    #expect(decoded.fixes.first?.altitude == nil)
    #expect(abs((decoded.fixes.first?.horizontalAccuracy ?? 0) - 18.502) < 1e-3)
  }

  @Test(arguments: [
    ("<!DOCTYPE gpx [<!ENTITY a \"&b;&b;\">]><gpx></gpx>", "document type"),
    ("<gpx><trk></gpx>", "end tag"), ("<gpx a=1></gpx>", "quotes"), ("<gpx a></gpx>", "no value"),
    ("<gpx><trk <a></gpx>", "inside a tag"), ("<gpx><></gpx>", "no name"),
    (String(repeating: "<gpx>", count: 65), "64 elements"),
    ("<gpx a=\"" + String(repeating: "a", count: 70000), "64 KiB"),
  ])
  func badXMLIsAFault(text: String, rule: String) {
    #expect(Decoded(text, .gpx).fault?.contains(rule) == true)
  }

  @Test func aTrackThatEndsTooEarlyHasWhatStoodBefore() {
    let text = gpx(point("<time>2024-02-01T12:00:00Z</time>"))
    let decoded = Decoded(String(text.dropLast(7)), .gpx)
    #expect(decoded.fixes.count == 1 && !decoded.isComplete && decoded.fault == nil)
  }

  @Test(arguments: [true, false], [true, false])
  func utf16IsRead(isBig: Bool, hasMark: Bool) throws {
    let text = gpx("<name>☃é</name>" + point("<time>2024-02-01T12:00:00Z</time>"))
    let bytes = ((hasMark ? "\u{FEFF}" : "") + text).utf16.flatMap { unit in
      let octets = [UInt8(unit >> 8), UInt8(unit & 0xFF)]
      return isBig ? octets : octets.reversed()
    }
    #expect(Decoded(bytes, .gpx).fixes.count == 1)
    #expect(detected(bytes) == .track(.gpx))
  }
}
