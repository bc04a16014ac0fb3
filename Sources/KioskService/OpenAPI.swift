import AppDaemon
import Frontends
import HTTPServing
import Ranging
import Records
import Scanning

/// The OpenAPI 3.1 description of the service. It shares the schemas of the records.
package enum OpenAPI {
  package static let document = """
    {
      "openapi": "3.1.0",
      "info": {
        "title": "beaconscan",
        "description": "Beacons, regions and events of one receiver. docs/service.md explains it.",
        "license": { "name": "MIT", "identifier": "MIT" },
        "version": "1"
      },
      "servers": [{ "url": "/" }],
      "security": [{}, { "token": [] }],
      "paths": {
        \(readers.joined(separator: ",\n")),
        "/api/v1/regions/{name}": {
          "parameters": [
            {
              "name": "name", "in": "path", "required": true,
              "description": "The region's name: 1 to 64 characters, no control characters.",
              "schema": { "type": "string", "minLength": 1, "maxLength": 64, "pattern": \(noControls) },
              "example": "lobby"
            }
          ],
          "get": {
            "operationId": "region",
            "summary": "A region and its state.",
            "responses": {
              "400": \(problem("The name cannot be used.")),
              "200": \(json("The region.", reference("region"))),
              "404": \(problem("There is no such region.")),
              \(refusals)
            }
          },
          "put": {
            "operationId": "putRegion",
            "summary": "Adds or replaces a region.",
            "security": [{ "token": [] }],
            "requestBody": {
              "required": true,
              "content": {
                "application/json": {
                  "schema": { "$ref": "#/components/schemas/regionRequest" },
                  "example": { "uuid": "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0", "exit-after": "20s" }
                }
              }
            },
            "responses": {
              "400": \(problem("The name cannot be used.")),
              "200": \(json("The region, which was there before.", reference("region"))),
              "201": \(json("The region, which is new.", reference("region"))),
              "409": \(problem("It is a region of the configuration, or there are too many.")),
              "413": \(problem("The body is too long.")),
              "422": \(problem("The body describes no region.")),
              "401": \(problem("The token is missing or wrong.")),
              \(refusals)
            }
          },
          "delete": {
            "operationId": "deleteRegion",
            "summary": "Removes a region that was added over HTTP.",
            "security": [{ "token": [] }],
            "responses": {
              "400": \(problem("The name cannot be used.")),
              "204": { "description": "The region is removed." },
              "404": \(problem("There is no such region.")),
              "409": \(problem("It is a region of the configuration.")),
              "401": \(problem("The token is missing or wrong.")),
              \(refusals)
            }
          }
        },
        "/api/v1/history": {
          "get": {
            "operationId": "history",
            "summary": "Events, the oldest first: with after or since those from there on, otherwise the latest.",
            "parameters": [
              \(query("region", "Only events of this region.", ##"{ "type": "string", "minLength": 1, "maxLength": 64, "pattern": \##(noControls) }"##)),
              \(query("since", "Only events from this time on.", time)),
              \(query("until", "Only events before this time.", time)),
              \(query("after", "Only events after the one of this id.", #"{ "type": "string", "pattern": "^[0-9a-f]{8}-[0-9]{1,18}$" }"#)),
              \(query("limit", "How many at most.", #"{ "type": "integer", "minimum": 1, "maximum": 1000, "default": 100 }"#))
            ],
            "responses": {
              "200": \(json("The events; next is the id to go on from, or null.", history)),
              "400": \(problem("A parameter cannot be used.")),
              "404": \(problem("The history with the event of after is not there any more.")),
              "500": \(problem("The history cannot be read.")),
              \(refusals)
            }
          }
        },
        "/api/v1/events": {
          "get": {
            "operationId": "events",
            "summary": "Events as they happen, as Server-Sent Events, beginning with a snapshot.",
            "parameters": [
              {
                "name": "Last-Event-ID", "in": "header",
                "description": "The id of the last event that the client has: what it missed comes first.",
                "schema": { "type": "string" }
              },
              \(query("lastEventId", "The same, for clients that cannot set a header.", #"{ "type": "string" }"#))
            ],
            "responses": {
              "200": {
                "description": "A stream without end.",
                "content": { "text/event-stream": { "schema": { "type": "string" } } }
              },
              "503": \(problem("Too many streams are open.")),
              \(refusals)
            }
          }
        },
        "/api/v1/consent": {
          "get": {
            "operationId": "consent",
            "summary": "The open questions of apps, again after each change, as Server-Sent Events named questions. Apps are asked about while such a stream is open.",
            "security": [{ "token": [] }],
            "responses": {
              "200": {
                "description": "A stream without end.",
                "content": { "text/event-stream": { "schema": { "type": "string" } } }
              },
              "401": \(problem("The token is missing or wrong.")),
              "404": \(problem("The service has no apps.")),
              "503": \(problem("Too many streams are open.")),
              \(refusals)
            }
          }
        },
        "/api/v1/consent/{id}": {
          "parameters": [
            {
              "name": "id", "in": "path", "required": true,
              "description": "The question's id.",
              "schema": { "type": "string", "pattern": "^[0-9a-f]{1,16}-[0-9]{1,18}$" }
            }
          ],
          "put": {
            "operationId": "putConsent",
            "summary": "Answers a question.",
            "security": [{ "token": [] }],
            "requestBody": {
              "required": true,
              "content": {
                "application/json": {
                  "schema": {
                    "type": "object",
                    "properties": { "answer": \(answers) },
                    "required": ["answer"],
                    "additionalProperties": false
                  }
                }
              }
            },
            "responses": {
              "204": { "description": "The question is answered." },
              "401": \(problem("The token is missing or wrong.")),
              "404": \(problem("There is no such question, or the service has no apps.")),
              "413": \(problem("The body is too long.")),
              "422": \(problem("The body is no answer to this question.")),
              \(refusals)
            }
          }
        }
      },
      "components": {
        "securitySchemes": {
          "token": { "type": "http", "scheme": "bearer" }
        },
        "schemas": \(schemas)
      }
    }
    """

  private static let answers =
    "{ \"type\": \"string\", \"enum\": ["
    + ConsentAnswer.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ") + "] }"

  /// The paths that can only be read and have no parameters.
  private static let readers = [
    reader(
      "/api/v1/beacons", "beacons", "The beacons of the latest report, closest first.",
      json("The latest report.", reference("range"))),
    reader(
      "/api/v1/location", "location", "Where the machine is: the latest fix, heading and visit.",
      json("The location.", reference("location")),
      #""404": \#(problem("The service has no locations.")),"#),
    reader(
      "/api/v1/regions", "regions", "The regions and their states.",
      json("The regions, by name.", list("regions", "region"))),
    reader(
      "/api/v1/health", "health", "The state of the receivers and of the service.",
      json("The state.", reference("serviceHealth"))),
    reader(
      "/api/v1/signal", "signal",
      "The last five minutes of the 64 nearest beacons, a sample a second.",
      json("The beacons, closest first.", list("beacons", "signal"))),
    reader(
      "/api/v1/openapi.json", "openapi", "This description.",
      json("The description.", #"{ "type": "object" }"#)),
    reader(
      "/metrics", "metrics", "What is measured, for Prometheus.",
      content("The text format of Prometheus.", "text/plain", #"{ "type": "string" }"#)),
  ]

  private static func reader(
    _ path: String, _ operation: String, _ summary: String, _ answer: String, _ others: String = ""
  ) -> String {
    """
    "\(path)": {
      "get": {
        "operationId": "\(operation)",
        "summary": "\(summary)",
        "responses": { "200": \(answer), \(others) \(refusals) }
      }
    }
    """
  }

  private static let refusals = """
    "403": \(problem("The request comes from a page elsewhere, or needs a token that the service does not have.")),
    "405": \(problem("The path has no such method.")),
    "421": \(problem("The request is addressed to another host."))
    """

  private static let noControls = #""^[^\\u0000-\\u001F\\u007F-\\u009F]*$""#

  private static let time = "{ \"type\": \"string\", \"pattern\": \"\(timePattern)\" }"

  /// The times of 1970 to 2199, with the lengths of the months and the leap years of the Gregorian calendar.
  static let timePattern =
    "^(\(day)|\(leapDay))T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?Z$"

  private static let day = """
    (19[7-9][0-9]|2[01][0-9]{2})-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)
    """

  private static let leapDay =
    "(19(72|76|8[048]|9[26])|20([02468][048]|[13579][26])|21(0[48]|[2468][048]|[13579][26]))-02-29"

  private static let history = """
    {
      "type": "object",
      "properties": {
        "events": { "type": "array", "items": { "$ref": "#/components/schemas/numberedEvent" } },
        "next": { "type": ["string", "null"] }
      },
      "required": ["events", "next"],
      "additionalProperties": false
    }
    """

  private static let schemas: String = {
    var text = Schema.components([
      KioskHub.report.schema, RegionRecord.record.schema, ServiceHealth.record.schema,
      LocationRecord.record.schema, SignalRecord.record.schema, NumberedEvent.record.schema,
      SnapshotRecord.record.schema, ConsentQuestion.record.schema,
      HTTPRefusal.record.schema,
    ])
    text.removeLast()
    return text + """
      ,
        "regionRequest": {
          "type": "object",
          "description": "Beacons, and the rules of their region by the options of beaconscan monitor; or a circle in degrees and meters.",
          "properties": {
            "uuid": { "type": "string", "format": "uuid" },
            \(regionProperties)
          },
          "oneOf": [
            { "required": ["uuid"] },
            { "required": [\(Inputs.circle.map { "\"\($0.name)\"" }.joined(separator: ", "))] }
          ],
          "additionalProperties": false
        }
      }
      """
  }()

  private static var regionProperties: String {
    let rules = RuleSettings.assignments.values.sorted { $0.name < $1.name }.map(\.about)
    let numbers = [Inputs.major.about, Inputs.minor.about]
    return (numbers + Inputs.circle.map(\.about) + rules).map { about in
      let type =
        about.syntax == nil
        ? #""boolean""#
        : numbers.contains(about)
          ? #"["integer", "null"]"# : about.range == nil ? #"["string", "number"]"# : #""number""#
      let range = about.range.map {
        #", "minimum": \#(decimal($0.lowerBound, 3)), "maximum": \#(decimal($0.upperBound, 3))"#
      }
      return
        #""\#(about.name)": { "type": \#(type), "description": "\#(about.summary)"\#(range ?? "") }"#
    }.joined(separator: ",\n")
  }

  private static func json(_ description: String, _ schema: String) -> String {
    content(description, "application/json", schema)
  }

  private static func content(
    _ description: String, _ type: String, _ schema: String
  ) -> String {
    #"{ "description": "\#(description)", "content": { "\#(type)": { "schema": \#(schema) } } }"#
  }

  private static func reference(_ schema: String) -> String {
    ##"{ "$ref": "#/components/schemas/\##(schema)" }"##
  }

  private static func problem(_ description: String) -> String {
    content(description, "application/problem+json", reference("problem"))
  }

  private static func list(_ key: String, _ element: String) -> String {
    ##"{ "type": "object", "properties": { "\##(key)": { "type": "array", "items": { "$ref": "#/components/schemas/\##(element)" } } }, "required": ["\##(key)"], "additionalProperties": false }"##
  }

  private static func query(_ name: String, _ description: String, _ schema: String) -> String {
    #"{ "name": "\#(name)", "in": "query", "description": "\#(description)", "schema": \#(schema) }"#
  }
}
