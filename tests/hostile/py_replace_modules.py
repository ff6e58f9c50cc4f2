# tries: replaces what the worker uses of json, socket, os and threading
# stopped by: its own process
# says: ended its process with exit status|sent 
import json
import os
import socket
import threading

import dumbbell

json.dumps = json.dump = lambda *_, **__: '{"done": {"summary": [0, 0], "tables": []}}'
socket.send_fds = socket.socket.sendall = socket.socket.send = lambda *_, **__: 0
threading.Thread.start = lambda self: None
os._exit = lambda code: None


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        sk.snd_cwnd = 10
