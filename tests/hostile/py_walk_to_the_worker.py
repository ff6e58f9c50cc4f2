# tries: finds the worker's sockets and functions among Python's objects, and answers in its name
# stopped by: the checks of answers
# says: sent what is not an answer|raised OSError
import gc
import socket
import sys

import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        for thing in gc.get_objects():
            if isinstance(thing, socket.socket):
                thing.setblocking(False)
                thing.send(b'\n{"done": {"summary": [0, 0], "tables": [["x", 0, 0]]}}\n')
        frame = sys._getframe()
        while frame is not None:
            frame.f_globals["send"] = frame.f_globals["line"] = frame.f_globals["answer"] = None
            frame = frame.f_back
