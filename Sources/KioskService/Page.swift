import HTTPTypes
import HummingbirdCore
import NIOCore

/// The files of the web page, embedded in the program.
enum Page {
  struct File: Sendable {
    let path: String
    let type: String
    let bytes: [UInt8]

    init(_ path: String, _ type: String, _ bytes: [UInt8]) {
      self.path = path
      self.type = type
      self.bytes = bytes
    }

    var response: Response {
      Response(
        status: .ok, headers: [.contentType: type, .cacheControl: "no-cache"],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
  }

  static let files = [
    File("/", "text/html; charset=utf-8", PackageResources.page_html),
    File("/page.css", "text/css; charset=utf-8", PackageResources.page_css),
    File("/page.js", "text/javascript; charset=utf-8", PackageResources.page_js),
    File("/location.js", "text/javascript; charset=utf-8", PackageResources.location_js),
    File("/elements.js", "text/javascript; charset=utf-8", PackageResources.elements_js),
    File("/icon.svg", "image/svg+xml", PackageResources.icon_svg),
  ]
}
