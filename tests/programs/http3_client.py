"""Load something over HTTP/3 (aioquic), for tests, and print how much came and how long it took.

Usage: http3_client.py CERTIFICATE HOST PATH
"""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

from aioquic.asyncio import QuicConnectionProtocol, connect
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import DataReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import QuicEvent


class Client(QuicConnectionProtocol):
    """One connection with one request."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._http = H3Connection(self._quic)
        self.received_bytes = 0
        self.is_complete = asyncio.Event()

    def get(self, path: str) -> None:
        """Send a request."""
        stream = self._quic.get_next_available_stream_id()
        headers = [
            (b":method", b"GET"), (b":scheme", b"https"), (b":authority", b"server"),
            (b":path", path.encode()),
        ]  # fmt: skip
        self._http.send_headers(stream, headers, end_stream=True)
        self.transmit()

    def quic_event_received(self, event: QuicEvent) -> None:
        """Count what comes."""
        for each in self._http.handle_event(event):
            if isinstance(each, DataReceived):
                self.received_bytes += len(each.data)
                if each.stream_ended:
                    self.is_complete.set()


async def main(certificate: str, host: str, path: str) -> None:
    """Load, and print what it took."""
    configuration = QuicConfiguration(alpn_protocols=H3_ALPN, server_name="server")
    configuration.load_verify_locations(certificate)
    began = time.monotonic()
    async with connect(host, 443, configuration=configuration, create_protocol=Client) as client:
        assert isinstance(client, Client)
        connected = time.monotonic()
        client.get(path)
        await client.is_complete.wait()
        took_s = time.monotonic() - connected
    print(f"connected in {1e3 * (connected - began):.1f} ms")
    print(f"{client.received_bytes} bytes in {took_s:.3f} s")


asyncio.run(main(*sys.argv[1:]))
