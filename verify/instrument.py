"""An instrument that no one here wrote, from PyPI: the pressure controller PACE5000 that gepace simulates with
sinstruments, over TCP. Prints `serving tcp://HOST:PORT`."""

from __future__ import annotations

from sinstruments.simulator import Server

#: As in a configuration file of sinstruments; the system chooses the port.
PACE = {
    "class": "Pace",
    "package": "gepace.simulator",
    "name": "pace",
    "transports": [{"type": "tcp", "url": ["127.0.0.1", 0]}],
}

if __name__ == "__main__":
    server = Server(devices=[PACE])
    listener = server.get_device_by_name("pace").transports[0]
    listener.start()
    print(f"serving tcp://127.0.0.1:{listener.server_port}", flush=True)
    server.serve_forever()
