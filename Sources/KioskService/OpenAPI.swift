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
        "/api/v1/beacons": {
          "get": {
            "operationId": "beacons",
            "summary": "The beacons of the latest report, closest first.",
            "responses": {
              "200": \(json("The latest report.", ##"{ "$ref": "#/components/schemas/range" }"##)),
              \(refusals)
            }
          }
        },
        "/api/v1/location": {
          "get": {
            "operationId": "location",
            "summary": "Where the machine is: the latest fix, heading and visit.",
            "responses": {
              "200": \(json("The location.", ##"{ "$ref": "#/components/schemas/location" }"##)),
              "404": \(problem("The service has no locations.")),
              \(refusals)
            }
          }
        },
        "/api/v1/regions": {
          "get": {
            "operationId": "regions",
            "summary": "The regions and their states.",
            "responses": {
              "200": \(json("The regions, by name.", list("regions", "region"))),
              \(refusals)
            }
          }
        },
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
              "200": \(json("The region.", ##"{ "$ref": "#/components/schemas/region" }"##)),
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
              "200": \(json("The region, which was there before.", ##"{ "$ref": "#/components/schemas/region" }"##)),
              "201": \(json("The region, which is new.", ##"{ "$ref": "#/components/schemas/region" }"##)),
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
        "/api/v1/health": {
          "get": {
            "operationId": "health",
            "summary": "The state of the receivers and of the service.",
            "responses": {
              "200": \(json("The state.", ##"{ "$ref": "#/components/schemas/serviceHealth" }"##)),
              \(refusals)
            }
          }
        },
        "/api/v1/signal": {
          "get": {
            "operationId": "signal",
            "summary": "The last five minutes of the 64 nearest beacons, a sample a second.",
            "responses": {
              "200": \(json("The beacons, closest first.", list("beacons", "signal"))),
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
              \(query("after", "Only events behind the one of this id.", #"{ "type": "string", "pattern": "^[0-9a-f]{8}-[0-9]{1,18}$" }"#)),
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
        "/api/v1/openapi.json": {
          "get": {
            "operationId": "openapi",
            "summary": "This description.",
            "responses": {
              "200": \(json("The description.", #"{ "type": "object" }"#)),
              \(refusals)
            }
          }
        },
        "/metrics": {
          "get": {
            "operationId": "metrics",
            "summary": "What is measured, for Prometheus.",
            "responses": {
              "200": {
                "description": "The text format of Prometheus.",
                "content": { "text/plain": { "schema": { "type": "string" } } }
              },
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

  /// The responses that any path may return.
  private static let refusals = """
    "403": \(problem("The request comes from a page elsewhere, or needs a token that the service does not have.")),
    "405": \(problem("The path has no such method.")),
    "421": \(problem("The request is addressed to another host."))
    """

  private static let noControls = #""^[^\\u0000-\\u001F\\u007F-\\u009F]*$""#

  private static let time =
    #"{ "type": "string", "pattern": "^(19[7-9][0-9]|20[0-9]{2}|21[0-9]{2})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z$" }"#

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
      SnapshotRecord.record.schema,
      ProblemRecord.record.schema,
    ])
    text.removeLast()
    return text + """
      ,
        "regionRequest": {
          "type": "object",
          "description": "Beacons, and the rules of their region by the options of beaconscan monitor; or a circle in degrees and meters.",
          "properties": {
            "uuid": { "type": "string", "format": "uuid" },
            "major": { "type": ["integer", "null"], "minimum": 0, "maximum": 65535 },
            "minor": { "type": ["integer", "null"], "minimum": 0, "maximum": 65535 },
            "latitude": { "type": "number", "minimum": -90, "maximum": 90 },
            "longitude": { "type": "number", "minimum": -180, "maximum": 180 },
            "radius": { "type": "number", "exclusiveMinimum": 0, "maximum": 2000000 },
            "each": { "type": "boolean" },
            "exit-after": { "type": ["string", "number"] },
            "boundary": { "type": ["string", "number"] },
            "enter-rssi": { "type": "number" },
            "exit-rssi": { "type": "number" },
            "enter-distance": { "type": "number" },
            "exit-distance": { "type": "number" },
            "enter-count": { "type": "string" },
            "dwell": { "type": ["string", "number"] }
          },
          "required": ["uuid"],
          "additionalProperties": false
        }
      }
      """
  }()

  private static func json(_ description: String, _ schema: String) -> String {
    #"{ "description": "\#(description)", "content": { "application/json": { "schema": \#(schema) } } }"#
  }

  private static func problem(_ description: String) -> String {
    ##"{ "description": "\##(description)", "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/problem" } } } }"##
  }

  private static func list(_ key: String, _ element: String) -> String {
    ##"{ "type": "object", "properties": { "\##(key)": { "type": "array", "items": { "$ref": "#/components/schemas/\##(element)" } } }, "required": ["\##(key)"], "additionalProperties": false }"##
  }

  private static func query(_ name: String, _ description: String, _ schema: String) -> String {
    #"{ "name": "\#(name)", "in": "query", "description": "\#(description)", "schema": \#(schema) }"#
  }
}
