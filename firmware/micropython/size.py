# Compiles the files as a board would, makes what serve() makes on one, and tells what that takes.

import gc
import os
import sys

before = gc.mem_alloc()
for name in sys.argv[1:]:
    if name not in ("main.py", "size.py"):
        __import__(name[:-3])
gc.collect()
code = gc.mem_alloc() - before

import wg_native  # noqa: E402, F401 - an error here is one: this port has an emitter
from wg_responder import Device, Responder  # noqa: E402

device = Device()
before = gc.mem_alloc()
client = Responder(device)
gc.collect()
each = gc.mem_alloc() - before
files = sum(os.stat(name)[6] for name in sys.argv[1:])
print(
    "micropython: {} B of files; in memory {} B of code and {} B a client (64-bit; frames of {} B)".format(
        files, code, each, device.largest
    )
)
