import HTTPServing
import HTTPTypes

/// The files of the web page, embedded in the program. Some are those of the kiosk's page.
enum Page {
  static let files: [String: Response] = [
    "/": file("text/html; charset=utf-8", PackageResources.fleet_html),
    "/page.css": file("text/css; charset=utf-8", PackageResources.page_css),
    "/fleet.css": file("text/css; charset=utf-8", PackageResources.fleet_css),
    "/fleet.js": file("text/javascript; charset=utf-8", PackageResources.fleet_js),
    "/plan.js": file("text/javascript; charset=utf-8", PackageResources.plan_js),
    "/elements.js": file("text/javascript; charset=utf-8", PackageResources.elements_js),
    "/icon.svg": file("image/svg+xml", PackageResources.icon_svg),
  ]

  private static func file(_ type: String, _ bytes: [UInt8]) -> Response {
    Response(
      status: .ok, headers: [.contentType: type, .cacheControl: "no-cache"], body: .bytes(bytes))
  }
}
