import CCurl
import Glibc
import Scanning

@safe struct CurlLibrary: @unchecked Sendable {
  // The table never changes. Any thread may call libcurl, but only one at a time may use a handle.
  fileprivate let table: ccurl

  /// libcurl, or the reason that it cannot be used.
  static let shared = Result<CurlLibrary, WebhookError> { () throws(WebhookError) in
    var table = unsafe ccurl()
    // The table outlives the call, and the system's text is copied at once.
    guard unsafe ccurl_load(&table) != 0 else {
      let reason = unsafe dlerror().map { unsafe String(cString: $0) } ?? "it cannot be prepared"
      throw WebhookError(
        description:
          "webhooks need libcurl, which cannot be loaded (\(reason)); install it: apt-get install "
          + "libcurl4")
    }
    return unsafe CurlLibrary(table: table)
  }
}

struct WebhookAnswer {
  /// The HTTP status, or `nil` if there was no answer.
  var status: Int?
  /// The value of `Retry-After`, in seconds.
  var retryAfter = 0.0
  /// libcurl's result, its text for that result, and its message about this request.
  var result = CURLE_OK
  var text = ""
  var detail = ""
  /// The system's error number for the connection.
  var systemError: Int32 = 0
}

/// Concurrent requests, at most one for each webhook, on one thread.
///
/// libcurl copies the strings that it is given, except the headers and the error buffer, which
/// belong to a slot and outlive its request. Its callbacks are C functions only.
@safe final class CurlRequests {
  private let curl: CurlLibrary
  private let multi: UnsafeMutableRawPointer
  private let configuration: WebhookConfiguration
  private var slots: [Slot] = []

  @safe private struct Slot {
    let easy: UnsafeMutableRawPointer
    /// The buffer for libcurl's error message, of `CURL_ERROR_SIZE` bytes.
    let error: UnsafeMutablePointer<CChar>
    var headers: UnsafeMutablePointer<curl_slist>?
    var isRunning = false
  }

  struct NoMemory: Error {}

  init(_ configuration: WebhookConfiguration, _ curl: CurlLibrary) throws(NoMemory) {
    self.configuration = configuration
    self.curl = curl
    guard let multi = unsafe curl.table.multi_init() else { throw NoMemory() }
    unsafe self.multi = multi
    for _ in configuration.urls {
      guard let easy = unsafe curl.table.easy_init() else { throw NoMemory() }
      let error = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
      unsafe slots.append(Slot(easy: easy, error: error))
    }
  }

  // This also runs if the initializer throws after all properties are set.
  deinit {
    for index in slots.indices {
      remove(index)
      unsafe curl.table.easy_cleanup(slots[index].easy)
      unsafe slots[index].error.deallocate()
    }
    _ = unsafe curl.table.multi_cleanup(multi)
  }

  var isRunning: Bool { slots.contains { $0.isRunning } }

  func start(_ index: Int, _ body: [UInt8], headers: [String]) throws(NoMemory) {
    let easy = unsafe slots[index].easy
    unsafe curl.table.easy_reset(easy)
    unsafe slots[index].error.initialize(to: 0)
    for header in headers {
      guard let list = unsafe curl.table.slist_append(slots[index].headers, header) else {
        removeHeaders(index)
        throw NoMemory()
      }
      unsafe slots[index].headers = list
    }
    let table = unsafe curl.table
    // The table and the texts outlive the calls.
    let results = unsafe withUnsafePointer(to: table) { table in
      var results = unsafe [
        ccurl_allow_http(table, easy), ccurl_discard_answer(table, easy),
        ccurl_set_pointer(table, easy, CURLOPT_URL, configuration.urls[index].text),
        ccurl_set_pointer(table, easy, CURLOPT_USERAGENT, configuration.userAgent),
        ccurl_set_pointer(table, easy, CURLOPT_HTTPHEADER, slots[index].headers),
        ccurl_set_pointer(table, easy, CURLOPT_ERRORBUFFER, slots[index].error),
        ccurl_set_number(table, easy, CURLOPT_POST, 1),
        ccurl_set_number(table, easy, CURLOPT_POSTFIELDSIZE, body.count),
        ccurl_set_pointer(table, easy, CURLOPT_COPYPOSTFIELDS, body),
        ccurl_set_number(table, easy, CURLOPT_FOLLOWLOCATION, 0),
        // libcurl must not use signals in a thread.
        ccurl_set_number(table, easy, CURLOPT_NOSIGNAL, 1),
        ccurl_set_number(
          table, easy, CURLOPT_TIMEOUT_MS, max(1, Int(configuration.answerTime * 1000))),
      ]
      if let authorities = configuration.authorities {
        unsafe results.append(ccurl_set_pointer(table, easy, CURLOPT_CAINFO, authorities))
      }
      return results
    }
    guard results.allSatisfy({ $0 == CURLE_OK }),
      unsafe curl.table.multi_add_handle(multi, easy) == CURLM_OK
    else {
      removeHeaders(index)
      throw NoMemory()
    }
    slots[index].isRunning = true
  }

  /// Continues the running requests, and returns those that have ended.
  func perform() -> [(index: Int, answer: WebhookAnswer)] {
    var running: Int32 = 0
    var ended: [(index: Int, answer: WebhookAnswer)] = []
    // The number, the table and the result outlive the calls.
    _ = unsafe curl.table.multi_perform(multi, &running)
    var result = CURLE_OK
    let table = unsafe curl.table
    unsafe withUnsafePointer(to: table) { table in
      while let easy = unsafe ccurl_next_ended(table, multi, &result) {
        guard let index = slots.firstIndex(where: { unsafe $0.easy == easy }) else { continue }
        let status = unsafe ccurl_status(table, easy)
        var answer = WebhookAnswer(status: status >= 200 ? status : nil)
        answer.retryAfter = unsafe Double(ccurl_retry_after(table, easy))
        answer.result = result
        answer.text =
          unsafe self.curl.table.easy_strerror(result).map { unsafe String(cString: $0) } ?? ""
        answer.detail = unsafe String(cString: slots[index].error)
        answer.systemError = unsafe Int32(clamping: ccurl_system_error(table, easy))
        ended.append((index, answer))
      }
    }
    for (index, _) in ended { remove(index) }
    return ended
  }

  /// Waits until a request can continue, the wake signal is sent, or the time has passed.
  func wait(seconds: Double, orUntil wake: borrowing WakeSignal) {
    let milliseconds = Int32(clamping: Int64(max(0, min(seconds, 86400)) * 1000) + 1)
    let table = unsafe curl.table
    // The table outlives the call.
    _ = unsafe withUnsafePointer(to: table) { table in
      unsafe ccurl_wait(table, multi, wake.descriptor, milliseconds)
    }
    wake.reset()
  }

  private func remove(_ index: Int) {
    if slots[index].isRunning {
      _ = unsafe curl.table.multi_remove_handle(multi, slots[index].easy)
      slots[index].isRunning = false
    }
    removeHeaders(index)
  }

  private func removeHeaders(_ index: Int) {
    unsafe curl.table.slist_free_all(slots[index].headers)
    unsafe slots[index].headers = nil
  }
}
