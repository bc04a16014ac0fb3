import HTTPServing
import HTTPTypes

/// The files of the web page, embedded in the program.
enum Page {
  struct File: Sendable {
    let path: String
    let type: String
    let bytes: [UInt8]

    var response: Response {
      Response(
        status: .ok, headers: [.contentType: type, .cacheControl: "no-cache"],
        body: .bytes(bytes))
    }
  }

  static let files = [
    File(path: "/", type: "text/html; charset=utf-8", bytes: PackageResources.page_html),
    File(path: "/page.css", type: "text/css; charset=utf-8", bytes: PackageResources.page_css),
    File(path: "/page.js", type: "text/javascript; charset=utf-8", bytes: PackageResources.page_js),
    File(
      path: "/location.js", type: "text/javascript; charset=utf-8",
      bytes: PackageResources.location_js),
    File(
      path: "/elements.js", type: "text/javascript; charset=utf-8",
      bytes: PackageResources.elements_js),
    File(path: "/icon.svg", type: "image/svg+xml", bytes: PackageResources.icon_svg),
  ]
}
