"""A call over WebRTC (aiortc), for tests: the server sends sound and answers on a data channel.

Usage: webrtc_call.py server|client HOST, which exchange descriptions over TCP port 8000.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

from aiortc import RTCConfiguration, RTCDataChannel, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack, MediaStreamError, MediaStreamTrack

#: How long it takes, s.
CALL_S = 3.0


def connection() -> RTCPeerConnection:
    """Return a connection that asks no server for its addresses."""
    return RTCPeerConnection(RTCConfiguration(iceServers=[]))


async def send(writer: asyncio.StreamWriter, description: RTCSessionDescription) -> None:
    """Send a description as a line."""
    writer.write(json.dumps([description.sdp, description.type]).encode() + b"\n")
    await writer.drain()


async def receive(reader: asyncio.StreamReader) -> RTCSessionDescription:
    """Receive one."""
    return RTCSessionDescription(*json.loads(await reader.readline()))


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Take a call, until the other side ends it."""
    peer = connection()
    peer.addTrack(AudioStreamTrack())

    @peer.on("datachannel")
    def on_channel(channel: RTCDataChannel) -> None:
        channel.on("message", channel.send)

    await peer.setRemoteDescription(await receive(reader))
    await peer.setLocalDescription(await peer.createAnswer())
    await send(writer, peer.localDescription)
    await reader.read()
    await peer.close()


async def serve() -> None:
    """Take calls."""
    async with await asyncio.start_server(answer, None, 8000, limit=1 << 20) as server:
        await server.serve_forever()


async def count_frames(track: MediaStreamTrack, frames: list[float]) -> None:
    """Note when frames come."""
    while True:
        try:
            await track.recv()
        except MediaStreamError:
            return
        frames.append(time.monotonic())


async def call(host: str) -> None:
    """Call, listen, measure the RTT of messages, and print what came."""
    reader, writer = await asyncio.open_connection(host, 8000, limit=1 << 20)
    peer = connection()
    peer.addTransceiver("audio", direction="recvonly")
    channel = peer.createDataChannel("echo")
    frames: list[float] = []
    rtts_ms: list[float] = []
    listening: list[asyncio.Task[None]] = []
    channel.on("message", lambda sent: rtts_ms.append(1e3 * (time.monotonic() - float(sent))))
    peer.on(
        "track", lambda track: listening.append(asyncio.ensure_future(count_frames(track, frames)))
    )
    await peer.setLocalDescription(await peer.createOffer())
    await send(writer, peer.localDescription)
    await peer.setRemoteDescription(await receive(reader))
    end = time.monotonic() + 20
    while channel.readyState != "open" and time.monotonic() < end:
        await asyncio.sleep(0.02)
    end = time.monotonic() + CALL_S
    while time.monotonic() < end:
        channel.send(str(time.monotonic()))
        await asyncio.sleep(0.1)
    await peer.close()
    writer.close()
    lasted_s = frames[-1] - frames[0] if len(frames) > 1 else 0
    print(f"{len(frames)} frames of sound in {lasted_s:.2f} s")
    print(f"{len(rtts_ms)} messages, smallest RTT {min(rtts_ms, default=0):.1f} ms")


asyncio.run(serve() if sys.argv[1] == "server" else call(sys.argv[2]))
