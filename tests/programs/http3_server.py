"""An HTTP/3 server (aioquic), for tests: `/bytes/N` is N bytes, everything else a page.

Usage: http3_server.py CERTIFICATE KEY
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from aioquic.asyncio import QuicConnectionProtocol, serve
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ProtocolNegotiated, QuicEvent

#: Loads five scripts, then writes what the browser has measured where `--dump-dom` shows it. A
#: browser reads a script to its end, and abandons a broken image early.
PAGE = b"""<!doctype html><title>page</title><body>
<script>
addEventListener("load", function () {
  const page = performance.getEntriesByType("navigation")[0];
  const scripts = performance.getEntriesByType("resource");
  document.body.dataset.seen = JSON.stringify({
    protocols: [page].concat(scripts).map(function (each) { return each.nextHopProtocol; }),
    load_ms: Math.round(page.loadEventStart),
  });
});
for (let i = 0; i < 5; i += 1) {
  const script = document.createElement("script");
  script.src = "/bytes/40000?" + i;
  document.body.append(script);
}
</script>
"""


class Server(QuicConnectionProtocol):
    """One connection."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._http: H3Connection | None = None

    def quic_event_received(self, event: QuicEvent) -> None:
        """Answer requests."""
        if isinstance(event, ProtocolNegotiated):
            self._http = H3Connection(self._quic)
        if self._http is None:
            return
        for each in self._http.handle_event(event):
            if isinstance(each, HeadersReceived):
                self.answer(self._http, each)
        self.transmit()

    def answer(self, http: H3Connection, request: HeadersReceived) -> None:
        """Send what a request asks for."""
        path = dict(request.headers)[b":path"].decode().partition("?")[0]
        is_bytes = path.startswith("/bytes/")
        body = bytes(int(path.rpartition("/")[2])) if is_bytes else PAGE
        kind = b"application/octet-stream" if is_bytes else b"text/html"
        length = str(len(body)).encode()
        headers = [(b":status", b"200"), (b"content-type", kind), (b"content-length", length)]
        http.send_headers(request.stream_id, headers)
        http.send_data(request.stream_id, body, end_stream=True)


async def main(certificate: str, key: str) -> None:
    """Serve until the end."""
    configuration = QuicConfiguration(is_client=False, alpn_protocols=H3_ALPN)
    configuration.load_cert_chain(certificate, key)
    await serve("::", 443, configuration=configuration, create_protocol=Server)
    await asyncio.Future()


asyncio.run(main(*sys.argv[1:]))
