#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A mirror for test/distro/selftest: serves a directory on the loopback.

usage: mirror.py DIRECTORY LOG

Prints its port. Writes 'PATH RANGE' to LOG for each request ('-' for none).
Answers Range with If-Range as a real mirror does, which the standard library's
server does not. Sends a file that has another beside it named FILE.slow slowly.
Ends when its standard input does, so it cannot outlive the test.
"""

import email.utils
import http.server
import os
import re
import sys
import threading
import time

ROOT, LOG = sys.argv[1:3]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        wanted = self.headers.get("Range", "-")
        with open(LOG, "a", encoding="utf-8") as log:
            log.write(f"{self.path} {wanted}\n")
        path = os.path.normpath(os.path.join(ROOT, self.path.lstrip("/")))
        if not path.startswith(ROOT + "/") or not os.path.isfile(path):
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        modified = email.utils.formatdate(int(os.stat(path).st_mtime), usegmt=True)
        with open(path, "rb") as file:
            data = file.read()
        start = 0
        match = re.fullmatch(r"bytes=(\d+)-", wanted)
        if match and self.headers.get("If-Range", modified) == modified:
            start = int(match.group(1))
        if 0 < start < len(data):
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
            data = data[start:]
        else:
            self.send_response(200)
        self.send_header("Last-Modified", modified)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        step = 16384
        for at in range(0, len(data), step):
            if os.path.exists(path + ".slow"):
                time.sleep(0.05)
            self.wfile.write(data[at:at + step])


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
