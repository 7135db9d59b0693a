"""The commands that measure: `exchange`, `stream`, `loop`, `loop_control`, `demo`.

Their arguments are the flags of the program with underscores for hyphens; ``--in`` and ``--out`` are
`in_sizes` and `out_sizes`, because ``in`` is a keyword of Python. Defaults are those of ``wiregauge
help exchange``. Numbers are in SI units and bytes; a str is parsed as by the program: ``"2ms"``,
``"48,100,1k..64k"``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from . import _measured
from . import _values as v
from ._loop_model import model_file
from .run import Run

__all__ = ["demo", "exchange", "loop", "loop_control", "stream"]


def exchange(
    *addresses: str,
    protocol: Literal["wiregauge", "echo", "lines", "text", "scpi", "modbus", "get-status"] | None = None,
    out_sizes: v.Sizes | None = None,
    in_sizes: v.Sizes | None = None,
    depth: v.Sizes | None = None,
    batch: int | None = None,
    count: v.Count | None = None,
    duration: v.Time | None = None,
    warmup: v.Count | None = None,
    interval: v.Time | None = None,
    rate: v.Number | None = None,
    timeout: v.Time | None = None,
    give_up: int | None = None,
    connect: Literal["once", "each"] | None = None,
    below: v.Times | None = None,
    require: v.Repeated | None = None,
    send: v.Queries | None = None,
    send_file: v.File | None = None,
    until: v.Escaped | None = None,
    reply_bytes: v.Size | None = None,
    reply_length: str | None = None,
    idle: v.Time | None = None,
    expect: str | None = None,
    unit: int | None = None,
    read: v.Repeated | None = None,
    write: v.Repeated | None = None,
    wait: Literal["block", "poll", "spin"] | None = None,
    priority: int | None = None,
    pin: int | None = None,
    lock_memory: bool = False,
    host_load: v.Load | None = None,
    no_calibration: bool = False,
    baud: int | None = None,
    framing: str | None = None,
    no_low_latency: bool = False,
    quick_ack: bool = False,
    usbmon: bool = False,
    timestamps: Literal["kernel"] | None = None,
    request_id: v.CanId | None = None,
    response_id: v.CanId | None = None,
    fd: bool = False,
    isotp: bool = False,
    padding: str | None = None,
    block_size: int | None = None,
    st_min: v.Time | None = None,
    bitrate: v.Rates | None = None,
    data_bitrate: v.Rates | None = None,
    kernel_wait: bool = False,
    keep_data: bool = False,
    csv: v.File | None = None,
    store: v.File | None = None,
    no_store: bool = False,
    note: str | None = None,
    keep_going: bool = False,
    force: bool = False,
    progress: bool | Literal["plot"] = True,
) -> Run:
    """Measure request/response exchanges: RTT, jitter, throughput, losses.

    Each size of a request is combined with each size of a response and each depth; every combination
    is a point of the run. The interpreter's lock is released while it measures.

    Parameters
    ----------
    *addresses
        The device, such as ``tcp://10.0.0.5:7700`` or ``serial:///dev/ttyACM0``. Several are measured
        one at a time, then all at once.
    protocol
        Wire protocol: wiregauge, echo, lines of text; text, scpi or modbus with your own queries;
        get-status, a standard request that any USB device answers.
    out_sizes, in_sizes
        Sizes of a request and of a response, in bytes.
    depth
        Requests outstanding at the same time.
    batch
        Maximum requests per system call; if not given, chosen by a short test; 1 over UDP and USB.
    count
        Number of exchanges at each point.
    duration
        Duration of each point (s), instead of a number of exchanges.
    warmup
        Number of exchanges at each point that are stored but excluded from the statistics.
    interval
        Start an exchange at this interval (s); the delay of late starts is also reported.
    rate
        The same, as exchanges per second.
    timeout
        An exchange without an answer after this time (s) is lost.
    give_up
        Stop after this many consecutive losses per outstanding request.
    connect
        Open the link once, or for each exchange.
    below
        Report the percentage of exchanges below each of these times (s).
    require
        Limits that every point must meet, such as ``"p99<2ms"``; those that are missed or
        undecided are in ``run.missed``.
    send
        With text and scpi: send this str or bytes; several are sent in turn. scpi appends a newline.
    send_file
        Send the lines of this file in turn, with C escapes.
    until
        A reply ends with this str or bytes; a newline, if nothing is given.
    reply_bytes
        Every reply has this many bytes.
    reply_length
        The field of a reply that says how long it is, such as ``"u16be@2+4"``.
    idle
        A reply ends when nothing is received for this time (s).
    expect
        Count replies that do not match this regular expression separately, and store them.
    unit
        Modbus: address of the unit; 1, if not given.
    read
        Modbus: what to read, such as ``"holding:100+10"`` or ``["coil:5", "input:0+2"]``.
    write
        Modbus: what to write, such as ``"40:1,2,3"`` or ``"coil:8:1,0"``.
    wait
        How the measuring thread waits: sleep in the read, sleep in poll, or spin.
    priority
        Real-time priority of the measuring thread, 1 to 99.
    pin
        Pin the measuring thread to this CPU.
    lock_memory
        Lock all memory of this process; it stays locked afterwards.
    host_load
        Synthetic load while measuring, such as ``{"cpu": 2, "memory": 1}``.
    no_calibration
        Do not measure the floor before and after the run: the RTT of a local echo, without the
        device.
    baud
        Baud rate of a serial line; unchanged, if not given.
    framing
        Data bits, parity and stop bits of a serial line, such as ``"8E1"``; 8N1, if not given.
    no_low_latency
        Serial: leave the driver's low_latency flag unchanged. Otherwise it is set during the run, and the
        latency timer of an FTDI adapter is 1 ms.
    quick_ack
        TCP: acknowledge at once.
    usbmon
        USB on Linux, also a serial port on USB: divide the RTT into host, bus and device, by the kernel's
        record of each URB; needs the usbmon module and read permission on ``/dev/usbmonN``.
    timestamps
        ``"kernel"``: TCP and UDP: divide the RTT into host and network, by the kernel's time stamps.
    request_id, response_id
        CAN: identifiers of requests and responses, such as ``0x7e0`` or ``"18da10f1"`` (hexadecimal).
    fd
        CAN: frames of CAN FD, up to 64 B.
    isotp
        CAN: messages of up to 4095 B by ISO-TP.
    padding
        ISO-TP: fill frames with this hexadecimal byte, such as ``"cc"``.
    block_size
        ISO-TP: frames that the device sends before it waits for flow control; 0: all.
    st_min
        ISO-TP: let the device wait this time (s) between two frames.
    bitrate, data_bitrate
        CAN: bit rates (bit/s) for the limit of the medium, if the interface reports none.
    kernel_wait
        CAN: measure how long each response waits between the kernel and wiregauge.
    keep_data
        Store the bytes of every answer with its sample; see `Run.answers`.
    csv
        Also write a CSV file with one row per exchange.
    store
        Store the run in this directory; with the other stored runs, if not given.
    no_store
        Do not store the run: its files are deleted with the `Run` object.
    note
        Store this text with the run, such as ``"new cable"``; see `Run.note`.
    keep_going
        If the storage is full, measure on, and count what could not be stored.
    force
        Overwrite existing files.
    progress
        Show the progress; ``"plot"``: also a plot of the running point over time and of the finished
        points, in Jupyter or in a window of matplotlib.

    Returns
    -------
    Run

    Raises
    ------
    UsageError
        A value is not valid.
    LinkError
        The link failed. ``error.run`` is the run so far, or None.
    StorageError
        The run could not be written.
    Interrupted
        Ctrl-C was pressed. ``error.run`` is the run so far, or None.

    Examples
    --------
    >>> run = wg.exchange("serial:///dev/ttyACM0", in_sizes=[48, 1000], depth=[1, 2, 4])
    >>> run.summary()[["in_bytes", "depth", "rtt_p50_ns", "rtt_p99_ns"]]
    """
    return _measure("exchange", v.addresses(addresses), locals(), progress)


def stream(
    *addresses: str,
    protocol: Literal["wiregauge", "raw"] | None = None,
    direction: v.Texts | None = None,
    type: Literal["isochronous"] | None = None,  # noqa: A002
    packet: v.Size | None = None,
    transfer: v.Sizes | None = None,
    queue: v.Sizes | None = None,
    duration: v.Time | None = None,
    settle: v.Time | None = None,
    timeout: v.Time | None = None,
    no_check: bool = False,
    pattern: Literal["zeros", "mod63", "counter"] | None = None,
    check: bool = False,
    rate: v.ByteRates | None = None,
    loss: v.Number | None = None,
    require: v.Repeated | None = None,
    priority: int | None = None,
    pin: int | None = None,
    lock_memory: bool = False,
    host_load: v.Load | None = None,
    baud: int | None = None,
    no_low_latency: bool = False,
    usbmon: bool = False,
    record: v.File | None = None,
    csv: v.File | None = None,
    store: v.File | None = None,
    no_store: bool = False,
    note: str | None = None,
    keep_going: bool = False,
    force: bool = False,
    progress: bool | Literal["plot"] = True,
) -> Run:
    """Measure one-way data streams: rates, losses, gaps, buffer sizes.

    Each direction is combined with each size of a transfer and each queue; every combination is a
    point of the run. The interpreter's lock is released while it measures.

    Parameters
    ----------
    *addresses
        The device, such as ``tcp://10.0.0.5:7700`` or ``usb://1d6b:0104``. Several are measured one at
        a time, then all at once.
    protocol
        ``wiregauge`` (default), or ``raw``: a device without a responder sends or takes data on its own.
    direction
        ``in`` (device to host), ``out``, ``both`` at once, or several of them.
    type
        USB on Linux: ``isochronous`` transfers of ``raw`` data; missed packets are counted.
    packet
        Bytes per isochronous packet.
    transfer
        Bytes per transfer: one write, read, URB or datagram; 8 packets of an isochronous one, if not given.
    queue
        Number of transfers submitted at once, for links with a queue (USB).
    duration
        Duration of each point (s).
    settle
        Start-up time before each point (s), excluded from all figures.
    timeout
        Fail if no transfer completes for this time (s).
    no_check
        Do not check the content of received data; only count bytes.
    pattern
        Bytes of a raw stream: ``zeros``, ``mod63`` or ``counter``.
    check
        Check the received data of a raw stream against ``pattern``.
    rate
        Compute the buffer that the device needs at these constant rates (bytes/s).
    loss
        Loss probability for which these buffers are also computed.
    require
        Limits that every point must meet, such as ``"in.rate>1MB/s"``; those that are missed or
        undecided are in ``run.missed``.
    priority
        Real-time priority of the measuring threads, 1 to 99.
    pin
        Pin the measuring threads to this CPU.
    lock_memory
        Lock all memory of this process; it stays locked afterwards.
    host_load
        Synthetic load while measuring, such as ``{"cpu": 2, "memory": 1}``.
    baud
        Baud rate of a serial line; unchanged, if not given.
    no_low_latency
        Serial: leave the driver's low_latency flag unchanged. Otherwise it is set during the run, and the
        latency timer of an FTDI adapter is 1 ms.
    usbmon
        USB on Linux: record when the kernel submitted and completed each transfer.
    record
        Also write the received bytes to this file; only for one point that receives.
    csv
        Also write a CSV file with one row per transfer.
    store
        Store the run in this directory; with the other stored runs, if not given.
    no_store
        Do not store the run: its files are deleted with the `Run` object.
    note
        Store this text with the run, such as ``"new cable"``; see `Run.note`.
    keep_going
        If the storage is full, measure on, and count what could not be stored.
    force
        Overwrite existing files.
    progress
        Show the progress; ``"plot"``: also a plot of the running point over time and of the finished
        points, in Jupyter or in a window of matplotlib.

    Returns
    -------
    Run

    Raises
    ------
    UsageError
        A value is not valid.
    LinkError
        The link failed. ``error.run`` is the run so far, or None.
    StorageError
        The run could not be written.
    Interrupted
        Ctrl-C was pressed. ``error.run`` is the run so far, or None.

    Examples
    --------
    >>> run = wg.stream("usb://1d6b:0104", direction="in", transfer="16k", duration=5)
    >>> run.summary()["rate_bytes_s"]
    """
    return _measure("stream", v.addresses(addresses), locals(), progress)


def loop(
    device: str,
    *,
    rate: v.Rates | None = None,
    channels: v.Sizes | None = None,
    notify: v.Sizes | None = None,
    ring: v.Size | None = None,
    preload: v.Size | None = None,
    process: v.Texts | None = None,
    gpu: v.Ways | None = None,
    gpu_device: int | None = None,
    wait: str | None = None,
    duration: v.Time | None = None,
    settle: v.Time | None = None,
    find: bool = False,
    hold: v.Time | None = None,
    no_calibration: bool = False,
    priority: int | None = None,
    pin: int | None = None,
    lock_memory: bool = False,
    host_load: v.Load | None = None,
    csv: v.File | None = None,
    store: v.File | None = None,
    no_store: bool = False,
    note: str | None = None,
    keep_going: bool = False,
    force: bool = False,
    progress: bool | Literal["plot"] = True,
) -> Run:
    """Measure a closed loop from a digitizer to a generator: the shortest stable latency.

    Each rate is combined with each number of channels and each block; every combination is a point of
    the run. The interpreter's lock is released while it measures.

    Parameters
    ----------
    device
        The digitizer and generator: ``virtual``, or a sound card such as ``alsa:hw:0``.
    rate
        Sample rate of each channel in samples/s.
    channels
        Number of channels, interleaved, 16 bits each.
    notify
        Block size in bytes: the device hands over whole blocks.
    ring
        Size of each ring buffer in bytes.
    preload
        Do not search: run with a preload of this many bytes and count stalls.
    process
        Processing stages, in this order, such as ``["copy", "fir:64"]``.
    gpu
        Process the blocks on a CUDA device, over these paths, such as ``["cpu", "pinned",
        "streams:4"]``; True for all GPU paths.
    gpu_device
        With `gpu`: number of the GPU, as its driver counts.
    wait
        How to wait for a block: ``sleep``, ``spin``, or ``hybrid:50us``.
    duration
        Duration of each point (s).
    settle
        Start-up time before each point (s), excluded from all figures.
    find
        Then test the preload found, and longer ones until one holds.
    hold
        How long (s) a preload must hold; implies `find`.
    no_calibration
        Do not measure the floor of this host, its memory bandwidth and the single stages.
    priority
        Real-time priority of the loop, 1 to 99.
    pin
        Pin the loop to this CPU.
    lock_memory
        Lock all memory of this process; it stays locked afterwards.
    host_load
        Synthetic load while measuring, such as ``{"cpu": 2, "memory": 1}``.
    csv
        Also write a CSV file with one row per block.
    store
        Store the run in this directory; with the other stored runs, if not given.
    no_store
        Do not store the run: its files are deleted with the `Run` object.
    note
        Store this text with the run, such as ``"new cable"``; see `Run.note`.
    keep_going
        If the storage is full, measure on, and count what could not be stored.
    force
        Overwrite existing files.
    progress
        Show the progress; ``"plot"``: also a plot of the running point over time and of the finished
        points, in Jupyter or in a window of matplotlib.

    Returns
    -------
    Run

    Raises
    ------
    UsageError
        A value is not valid.
    LinkError
        The device failed. ``error.run`` is the run so far, or None.
    StorageError
        The run could not be written.
    Interrupted
        Ctrl-C was pressed. ``error.run`` is the run so far, or None.

    Examples
    --------
    >>> run = wg.loop("virtual", rate="100k", notify="1k", duration=5, find=True)
    >>> run.plot.loop_curve()
    """
    return _measure("loop", v.text("device", device), locals(), progress)


def loop_control(
    address: str,
    *,
    model: v.File | Mapping[str, Any] | None = None,
    plant: v.System | None = None,
    pid: v.Numbers | None = None,
    controller: v.System | None = None,
    period: v.Time | None = None,
    noise: v.Number | None = None,
    duration: v.Time | None = None,
    count: int | None = None,
    step: v.Number | None = None,
    depth: int | None = None,
    timeout: v.Time | None = None,
    against: v.File | None = None,
    point: int | None = None,
    baud: int | None = None,
    priority: int | None = None,
    pin: int | None = None,
    lock_memory: bool = False,
    host_load: v.Load | None = None,
    csv: v.File | None = None,
    store: v.File | None = None,
    no_store: bool = False,
    note: str | None = None,
    keep_going: bool = False,
    force: bool = False,
    progress: bool = True,
) -> Run:
    """Close a control loop over a link with a device that simulates the plant.

    The device is ``wiregauge serve ADDRESS --plant`` (`serve`). The interpreter's lock is released while it
    runs.

    Parameters
    ----------
    address
        The device that simulates the plant.
    model, plant, pid, controller, period
        The loop, as in `control`.
    noise
        Intensity of the noise at the plant's input, as the device has it; 0, if not given.
    duration
        Duration of the run (s).
    count
        Number of cycles, instead of `duration`.
    step
        Set the reference of the first output to this value at half of the run; before it is 0.
    depth
        Maximum number of outstanding samples; a cycle that would exceed it sends nothing.
    timeout
        Time (s) after which a message without reply is lost; 10 periods and at least 10 ms, if not given.
    against
        Compare with the prediction from this exchange run of the same link.
    point
        Point of that run.
    baud
        Baud rate of a serial line.
    priority
        Real-time priority of the loop, 1 to 99.
    pin
        Pin the loop to this CPU.
    lock_memory
        Lock all memory of this process; it stays locked afterwards.
    host_load
        Synthetic load while measuring, such as ``{"cpu": 2, "memory": 1}``.
    csv
        Also write a CSV file with one row per cycle.
    store
        Store the run in this directory; with the other stored runs, if not given.
    no_store
        Do not store the run: its files are deleted with the `Run` object.
    note
        Store this text with the run, such as ``"new cable"``; see `Run.note`.
    keep_going
        If the storage is full, measure on, and count what could not be stored.
    force
        Overwrite existing files.
    progress
        Show the progress.

    Returns
    -------
    Run
        Its samples have a row per cycle: times, status, reference, outputs and commands.

    Raises
    ------
    UsageError
        A value is not valid, or the device's plant does not have the inputs and outputs of the model.
    LinkError
        The link failed, or the device does not simulate a plant. ``error.run`` is the run so far, or None.
    StorageError
        The run could not be written.
    Interrupted
        Ctrl-C was pressed. ``error.run`` is the run so far, or None.

    Examples
    --------
    >>> servo = {"plant": "1000/(s^2+s)", "pid": (0.96, 0, 0.049), "period": "6ms"}
    >>> run = wg.loop_control("tcp://10.0.0.5:7700", duration=10, **servo)
    """
    values = dict(locals())
    file = model_file(values)
    run = _measure("loop-control", v.text("address", address), values, progress)
    del file
    return run


def demo(*, store: v.File | None = None, progress: bool = True) -> list[Run]:
    """30-second demo, no hardware needed: measure a modelled device and a TCP responder.

    Parameters
    ----------
    store
        Store the runs in this directory; among the stored runs, if not given.
    progress
        Show the progress.

    Returns
    -------
    list of Run
        The two runs. The program prints more on a terminal: ``wiregauge demo``.

    Raises
    ------
    StorageError
        The runs could not be stored.
    Interrupted
        Ctrl-C was pressed.

    Examples
    --------
    >>> slow, fast = wg.demo()
    >>> print(slow.compare(fast))
    """
    return _measured.command("demo", [], locals(), progress=progress)[1]


def _measure(
    name: str,
    words: list[str],
    values: Mapping[str, object],
    progress: bool | Literal["plot"],
) -> Run:
    """Run a measuring command; return its run."""
    _, runs = _measured.command(name, words, values, ["--quiet"], progress=progress)
    if not runs:
        raise RuntimeError(f"{name} ended without a run and without an error")
    return runs[-1]
