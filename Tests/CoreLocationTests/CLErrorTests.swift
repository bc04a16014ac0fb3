import CoreLocation
import Testing

@testable import StrangersSwift5
@testable import StrangersSwift6

@Suite struct CLErrorTests {
  static let codes = (0...19).compactMap { CLError.Code(rawValue: $0) }

  @Test(arguments: made().indices) func `every way to make an error is matched in every form`(
    at index: Int
  ) {
    let error = made()[index]
    #expect(describe(error) == "denied")
    #expect(byCode(error) == "denied")
    #expect(byOptional(error) == "denied")
    #expect(byNumber(error))
    #expect(byRawValue(error) == .denied)
    #expect(caught { throw error } == "denied")
    #expect(ifCase(error))
    #expect(RangingFailure(error) == .notAllowed)
  }

  @Test(arguments: codes) func `a code survives the way through NSError`(code: CLError.Code) {
    let error: any Error = NSError(domain: kCLErrorDomain, code: code.rawValue)
    #expect((error as? CLError)?.code == code)
    #expect(byCode(error) == "\(code)")
    #expect(CLError(code) == error as? CLError)
    #expect(CLError(code).hashValue == (error as? CLError)?.hashValue)
    #expect(CLError(code) as NSError == NSError(domain: kCLErrorDomain, code: code.rawValue))
    #expect((CLError(code) as any Error as NSError).code == code.rawValue)
  }

  @Test(arguments: codes) func `a code has one sentence, by whatever way it is asked`(
    code: CLError.Code
  ) {
    let sentence = CLError(code).localizedDescription
    #expect(sentence.hasSuffix(".") && !sentence.contains(kCLErrorDomain))
    #expect((CLError(code) as any Error).localizedDescription == sentence)
    #expect((CLError(code) as any Error as NSError).localizedDescription == sentence)
    #expect((CLError(code) as NSError).localizedDescription == sentence)
    #expect(
      CLError(_nsError: NSError(domain: kCLErrorDomain, code: code.rawValue)).localizedDescription
        == sentence)
  }

  @Test func `no two codes have the same sentence`() {
    #expect(Self.codes.count == 20)
    #expect(Set(Self.codes.map { CLError($0).localizedDescription }).count == 20)
  }

  @Test(arguments: [
    NSError(domain: "elsewhere", code: 1), NSError(domain: kCLErrorDomain, code: 999),
    NSError(domain: kCLErrorDomain, code: -1),
  ])
  func `what is no error of ours is not cast`(error: NSError) {
    #expect(error as? CLError == nil)
    #expect(describe(error) == "foreign")
    #expect(caught { throw error } != "denied")
  }

  @Test func `an error keeps what it was told`() {
    let region = CLBeaconRegion(uuid: UUID(), identifier: "other")
    let error = CLError(
      .regionMonitoringResponseDelayed,
      userInfo: [
        kCLErrorUserInfoAlternateRegionKey: region, NSLocalizedDescriptionKey: "Later.",
      ])
    #expect(error.alternateRegion == region)
    #expect(error.localizedDescription == "Later.")
    #expect(error != CLError(.regionMonitoringResponseDelayed))
  }
}
