"""A receiver of webhooks for WebhooksTests: answers as its arguments say, and verifies signatures by Python's library.

  receiver.py OUTPUT SECRET CERTIFICATE ANSWER …

An answer is a status, with @SECONDS for Retry-After or >URL for Location; `hang` for none; the last one stays. The
first line of the output is the port; each further line is a request as JSON. SECRET and CERTIFICATE may be `-`.
"""

import base64
import hashlib
import hmac
import json
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

output = open(sys.argv[1], "w", buffering=1)
secret, certificate, answers = sys.argv[2], sys.argv[3], sys.argv[4:]


def is_signed(headers, body):
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    code = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    is_recent = abs(time.time() - int(headers["webhook-timestamp"])) < 300
    return is_recent and hmac.compare_digest(headers["webhook-signature"], f"v1,{code}")


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        record = {
            "path": self.path, "body": body.decode(), "answer": answer,
            "id": self.headers["webhook-id"], "agent": self.headers["User-Agent"],
            "type": self.headers["Content-Type"], "isSigned": self.headers["webhook-signature"] is not None,
            "isRight": secret != "-" and is_signed(self.headers, body),
        }
        output.write(json.dumps(record) + "\n")
        if answer == "hang":
            threading.Event().wait()
        status, _, seconds = answer.partition("@")
        status, _, place = status.partition(">")
        self.send_response(int(status))
        if seconds:
            self.send_header("Retry-After", seconds)
        if place:
            self.send_header("Location", place)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST

    def log_message(self, *arguments):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
server.daemon_threads = True
if certificate != "-":
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
output.write(f"{server.server_address[1]}\n")
server.serve_forever()
