/* The C ABI of wiregauge: exchange data with a device over any link, read stored runs.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Made from crates/capi/src by `BLESS=1 cargo test -p wiregauge-capi --test tests header`. Do not edit.
 *
 * Every function that can fail returns a code: WG_OK or one of WG_ERROR_...; wg_last_error returns the
 * error text. Sizes are size_t bytes, times uint64_t nanoseconds. Arguments not documented as optional
 * must not be NULL.
 *
 * Handles (wg_device, wg_options, wg_run) are opaque numbers of pointer type: do not dereference them.
 * A closed or invalid handle is detected (WG_ERROR_HANDLE). Handles belong to the process that created
 * them: after fork() the child must open its own.
 *
 * Threads: any thread may use any handle, one at a time. A concurrent call with the same handle fails
 * at once with WG_ERROR_IN_USE. Only wg_interrupt may be called at any time, also from signal handlers.
 *
 * Other pointers are not checked: each must point to as many bytes as its size, until the function
 * returns. No pointer is used afterwards; `user` of wg_control is passed to `step` during the call.
 *
 * A Rust panic does not cross the C ABI: it returns WG_ERROR_BUG. docs/c.md shows how to build and what
 * to expect. */


#ifndef WIREGAUGE_H
#define WIREGAUGE_H

#include <stddef.h>
#include <stdint.h>

/* For a reply size: as many bytes as sent. */
#define WG_AS_SENT ((size_t)-1)

/* Return value of the `step` of wg_control to end the loop. */
#define WG_END ((size_t)-1)


/**
 * Number of the ABI that this header describes; the shared library's name ends in it. It changes when programs must be
 * compiled again, not when functions are added.
 */
#define WG_ABI_VERSION 0

/**
 * Success.
 */
#define WG_OK 0

/**
 * The address, an option or a size cannot be used as given.
 */
#define WG_ERROR_USAGE 1

/**
 * Permission denied by the system.
 */
#define WG_ERROR_PERMISSION 2

/**
 * The address is unreachable: connection refused, or no route to it.
 */
#define WG_ERROR_UNREACHABLE 3

/**
 * No such device.
 */
#define WG_ERROR_NOT_FOUND 4

/**
 * Another program uses the device.
 */
#define WG_ERROR_BUSY 5

/**
 * No complete reply within the timeout.
 */
#define WG_ERROR_TIMEOUT 6

/**
 * The device responds, but not with the expected protocol.
 */
#define WG_ERROR_PROTOCOL 7

/**
 * The device disconnected.
 */
#define WG_ERROR_DISCONNECTED 8

/**
 * Another error reported by the system.
 */
#define WG_ERROR_IO 9

/**
 * The call was interrupted by wg_interrupt.
 */
#define WG_ERROR_INTERRUPTED 10

/**
 * A Modbus device answered with an exception; see wg_exception.
 */
#define WG_ERROR_EXCEPTION 11

/**
 * A NULL pointer, or an invalid size or number: an error in the calling program.
 */
#define WG_ERROR_ARGUMENT 20

/**
 * The handle is closed or invalid.
 */
#define WG_ERROR_HANDLE 21

/**
 * Another thread (or the `step` of wg_control) is in a call with this handle.
 */
#define WG_ERROR_IN_USE 22

/**
 * The handle belongs to the parent process, from before fork().
 */
#define WG_ERROR_FORKED 23

/**
 * The buffer is too small; the part that fits was written.
 */
#define WG_ERROR_ROOM 24

/**
 * Too many open handles (1024 per kind).
 */
#define WG_ERROR_TOO_MANY 25

/**
 * A stored run was not found or cannot be read.
 */
#define WG_ERROR_RUN 26

/**
 * An error of a kind without a number in this ABI.
 */
#define WG_ERROR_OTHER 98

/**
 * A bug in wiregauge (a caught panic). The handle can only be closed; please report the text.
 */
#define WG_ERROR_BUG 99

/**
 * Sleep in the read: one system call, but the RTT includes a wake-up.
 */
#define WG_WAIT_BLOCK 0

/**
 * Sleep in poll, then read.
 */
#define WG_WAIT_POLL 1

/**
 * Never sleep: read in a loop. Uses one CPU core.
 */
#define WG_WAIT_SPIN 2

/**
 * Coils: bits that can be read and written.
 */
#define WG_TABLE_COIL 0

/**
 * Discrete inputs: bits that can be read.
 */
#define WG_TABLE_DISCRETE 1

/**
 * Holding registers: can be read and written.
 */
#define WG_TABLE_HOLDING 2

/**
 * Input registers: can be read.
 */
#define WG_TABLE_INPUT 3

/**
 * The reply arrived.
 */
#define WG_CYCLE_OK 0

/**
 * The reply arrived, but the cycle began after the start time of the next one.
 */
#define WG_CYCLE_OVERRUN 1

/**
 * No reply within the timeout.
 */
#define WG_CYCLE_LOST 2

/**
 * Text: the address used to open it.
 */
#define WG_ABOUT_ADDRESS 1

/**
 * Text: the name that it reports; empty without the wiregauge protocol.
 */
#define WG_ABOUT_RESPONDER 2

/**
 * Text: the bus that it reports, such as "high-speed"; empty if it reports none.
 */
#define WG_ABOUT_BUS 3

/**
 * Text: settings of the link, one line "name: value" each.
 */
#define WG_ABOUT_SETTINGS 4

/**
 * Number: the largest payload of a request, in bytes.
 */
#define WG_ABOUT_LARGEST_REQUEST 5

/**
 * Number: the largest payload of a reply, in bytes.
 */
#define WG_ABOUT_LARGEST_REPLY 6

/**
 * Number: clock ticks per second; 0 without a clock.
 */
#define WG_ABOUT_TICK_HZ 7

/**
 * Number: width of the tick counter in bits; 0 without a clock.
 */
#define WG_ABOUT_TICK_BITS 8

/**
 * Number: its abilities, as in HELLO (docs/protocol.md); 0 without the wiregauge protocol.
 */
#define WG_ABOUT_ABILITIES 9

/**
 * An open device.
 */
typedef struct wg_device wg_device;

/**
 * Options to open a device. Defaults: the wiregauge protocol, a timeout of one second, sleep in the read.
 * May be used for any number of wg_open calls; changes do not affect open devices.
 */
typedef struct wg_options wg_options;

/**
 * A stored run.
 */
typedef struct wg_run wg_run;

/**
 * Times of one exchange. Times are nanoseconds of the host's monotonic clock since the device was opened.
 */
typedef struct wg_timing {
    /**
     * Start of sending the request.
     */
    uint64_t start_ns;
    /**
     * Start of sending to the last byte of the reply.
     */
    uint64_t rtt_ns;
    /**
     * Device clock when the request had arrived, in ticks; 0 where the device has no clock.
     */
    uint64_t device_rx_ticks;
    /**
     * Device clock when the reply was sent, in ticks.
     */
    uint64_t device_tx_ticks;
} wg_timing;

/**
 * Parameters of a control loop. Set all fields to zero and `struct_bytes` to sizeof(wg_control_plan)
 * first.
 */
typedef struct wg_control_plan {
    /**
     * sizeof(wg_control_plan), so that later library versions know which fields this program has.
     */
    size_t struct_bytes;
    /**
     * Time between the starts of two cycles; 0: as fast as replies arrive.
     */
    uint64_t period_ns;
    /**
     * Buffer size for the payload of a request, in bytes: at most WG_ABOUT_LARGEST_REQUEST.
     */
    size_t largest_request;
    /**
     * Size of a reply, as `asked` of wg_exchange: usually WG_AS_SENT.
     */
    size_t reply_bytes;
    /**
     * Outstanding requests, 1 to 4096. With depth 1, a command is computed from the reply of the previous
     * cycle; with depth d, from d cycles before: a shorter repetition time, but a longer dead time.
     */
    uint32_t depth;
    /**
     * SCHED_FIFO priority of the loop, 1 to 99; 0: unchanged.
     */
    uint32_t priority;
    /**
     * Not 0: pin the loop to the CPU `cpu`.
     */
    uint32_t pin;
    /**
     * CPU number, from 0.
     */
    uint32_t cpu;
    /**
     * Consecutive lost cycles that end the loop with WG_ERROR_TIMEOUT; 0: never.
     */
    uint32_t give_up;
    /**
     * Must be 0.
     */
    uint32_t reserved;
} wg_control_plan;

/**
 * Computes the next command from the newest measurement. `cycle` counts from 0; `reply` is the newest
 * reply, NULL before the first one; write the request to `request`, which has `room` bytes. Return the
 * number of bytes written, or WG_END to end the loop. Do not leave it by longjmp, a C++ exception or
 * mexErrMsgTxt, and do not use the device in it.
 */
typedef size_t (*wg_step)(void *user,
                          uint64_t cycle,
                          const uint8_t *reply,
                          size_t reply_bytes,
                          uint8_t *request,
                          size_t room);

/**
 * Result of one cycle. Times are nanoseconds since the first cycle.
 */
typedef struct wg_cycle {
    /**
     * Intended start; equal to `start_ns` without a period.
     */
    uint64_t intended_ns;
    /**
     * Actual start: when the request was sent.
     */
    uint64_t start_ns;
    /**
     * Time to the last byte of the reply; without a reply, the time waited.
     */
    uint64_t rtt_ns;
    /**
     * Duration of `step`.
     */
    uint64_t step_ns;
    /**
     * Device clock when the request had arrived, in ticks.
     */
    uint64_t device_rx_ticks;
    /**
     * Device clock when the reply was sent, in ticks.
     */
    uint64_t device_tx_ticks;
    /**
     * The cycle whose reply the command was computed from; UINT64_MAX before the first reply.
     */
    uint64_t made_from;
    /**
     * Outcome: one of WG_CYCLE_...
     */
    uint8_t status;
} wg_cycle;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the library, such as "0.1.0". Do not free it.
 */
const char *wg_version(void);

/**
 * The ABI version of the loaded library. A program that loads it at run time (dlopen, LabVIEW) should
 * compare it with WG_ABI_VERSION.
 */
uint32_t wg_abi_version(void);

/**
 * The name of a code, such as "WG_ERROR_TIMEOUT"; "unknown" for other numbers. Do not free it.
 */
const char *wg_error_name(int32_t code);

/**
 * The error text of the last failed call in this thread: what failed, on which device, the reason, and a
 * hint on its own line. Empty before the first error; successful calls do not change it. Valid until the
 * next error in the same thread. If calls move between threads (LabVIEW), use wg_device_error.
 */
const char *wg_last_error(void);

/**
 * Creates options; free them with wg_options_free.
 */
int32_t wg_options_new(struct wg_options **options);

/**
 * Frees options. NULL is ignored.
 */
int32_t wg_options_free(struct wg_options *options);

/**
 * A call fails after this time without a complete reply. 10 us to one day.
 */
int32_t wg_options_timeout(struct wg_options *options, uint64_t timeout_ns);

/**
 * How to wait for a reply: one of WG_WAIT_...
 */
int32_t wg_options_wait(struct wg_options *options, int32_t wait);

/**
 * Use the wiregauge protocol: the device is identified when it is opened (HELLO). The default.
 */
int32_t wg_options_wiregauge(struct wg_options *options);

/**
 * No framing: requests are sent unchanged, and the caller gives the size of each reply.
 */
int32_t wg_options_raw(struct wg_options *options);

/**
 * Every reply has this fixed size in bytes, at least 1.
 */
int32_t wg_options_fixed(struct wg_options *options, size_t reply_bytes);

/**
 * Each message ends with these 1 to 8 bytes. They are added to requests and removed from replies. SCPI:
 * "\n", 1.
 */
int32_t wg_options_terminator(struct wg_options *options,
                              const void *end,
                              size_t end_bytes);

/**
 * Each message begins with its length, in a field of 1, 2 or 4 bytes. `big_endian`: not 0 for the most
 * significant byte first. `counts_itself`: not 0 if the length includes the field itself.
 */
int32_t wg_options_length_prefix(struct wg_options *options,
                                 int32_t field_bytes,
                                 int32_t big_endian,
                                 int32_t counts_itself);

/**
 * Baud rate of a serial line; 0 keeps the present one. No effect on other links.
 */
int32_t wg_options_baud(struct wg_options *options, uint32_t baud);

/**
 * TCP: not 0 to acknowledge segments at once (one system call per read). No effect on other links.
 */
int32_t wg_options_quick_ack(struct wg_options *options, int32_t quick_ack);

/**
 * Text: requests are sent as they are, and a reply ends with a newline, which is removed.
 */
int32_t wg_options_text(struct wg_options *options);

/**
 * Text whose replies end with these bytes, which are removed from replies and not added to requests.
 */
int32_t wg_options_text_until(struct wg_options *options,
                              const void *end,
                              size_t end_bytes);

/**
 * Text whose replies have this size in bytes, at least 1.
 */
int32_t wg_options_text_bytes(struct wg_options *options, uint32_t reply_bytes);

/**
 * Text whose replies have a field with their length: `TYPE[@OFFSET][+ADDED]`, such as "u16be@2+4" (u8, u16le,
 * u16be, u32le, u32be; ADDED: bytes behind the field that it does not count).
 */
int32_t wg_options_text_length(struct wg_options *options,
                               const char *field);

/**
 * Text whose replies end when nothing is received for this time; longer than any pause within a reply.
 */
int32_t wg_options_text_idle(struct wg_options *options,
                             uint64_t idle_ns);

/**
 * An instrument that speaks SCPI: a newline is sent behind each message; a reply ends with a newline outside
 * strings and block data ("#3100..."), which is removed.
 */
int32_t wg_options_scpi(struct wg_options *options);

/**
 * Modbus: RTU on serial lines, which needs wg_options_baud, else Modbus TCP. `unit`: 1 to 247, or 255 for a device
 * behind no gateway. A request of wg_exchange is unit, function and data, without checksum or header.
 */
int32_t wg_options_modbus(struct wg_options *options,
                          uint8_t unit);

/**
 * Data bits, parity and stop bits of a serial line, such as "8E1"; NULL for 8N1. No effect on other links.
 */
int32_t wg_options_serial_framing(struct wg_options *options,
                                  const char *framing);

/**
 * Opens the device at an address such as "tcp://10.0.0.5:7700" or "serial:///dev/ttyACM0", and with the
 * wiregauge protocol identifies it. `options` may be NULL for the defaults. On failure `*device` is NULL.
 */
int32_t wg_open(const char *address,
                const struct wg_options *options,
                struct wg_device **device);

/**
 * Closes a device; outstanding replies are abandoned. NULL is ignored. If another thread is in a call with
 * it, this fails with WG_ERROR_IN_USE and the device stays open.
 */
int32_t wg_close(struct wg_device *device);

/**
 * Changes the timeout of an open device, from the next call on; see wg_options_timeout.
 */
int32_t wg_set_timeout(struct wg_device *device, uint64_t timeout_ns);

/**
 * Interrupts the call that is waiting on this device, or else the next call, with WG_ERROR_INTERRUPTED. A
 * waiting call returns within 100 ms. Outstanding replies are abandoned; the device remains usable. May be
 * called from any thread and from a signal handler, so it sets no text for wg_last_error.
 */
int32_t wg_interrupt(struct wg_device *device);

/**
 * The error text of the last failed call with this device, from any thread; see wg_last_error. The text
 * and its NUL are copied to `text`, which has `room` bytes; `length` (optional) receives its length
 * without the NUL. With `room` 0 only the length is returned. A text that does not fit is truncated:
 * WG_ERROR_ROOM.
 */
int32_t wg_device_error(struct wg_device *device,
                        char *text,
                        size_t room,
                        size_t *length);

/**
 * One exchange: sends the request and waits for its reply.
 *
 * `asked` is the size of the reply: the requested payload (wiregauge protocol), or the number of bytes to
 * wait for (wg_options_raw). WG_AS_SENT: as many as sent. Ignored if the framing gives the size.
 *
 * The reply's payload is copied to `reply`, which has `room` bytes and may be the request's own buffer;
 * `reply_bytes` (optional) receives its size, `timing` (optional) its times. A reply larger than `room` is
 * truncated: WG_ERROR_ROOM.
 */
int32_t wg_exchange(struct wg_device *device,
                    const void *request,
                    size_t request_bytes,
                    size_t asked,
                    void *reply,
                    size_t room,
                    size_t *reply_bytes,
                    struct wg_timing *timing);

/**
 * Sends a request without waiting for its reply; receive it with wg_next_reply, in the order of the
 * requests. May block until the system accepts the bytes. `asked` as for wg_exchange.
 */
int32_t wg_submit(struct wg_device *device,
                  const void *request,
                  size_t request_bytes,
                  size_t asked);

/**
 * Waits for the reply to the oldest submitted request. Results as for wg_exchange.
 */
int32_t wg_next_reply(struct wg_device *device,
                      void *reply,
                      size_t room,
                      size_t *reply_bytes,
                      struct wg_timing *timing);

/**
 * Number of submitted requests whose replies were not received yet.
 */
int32_t wg_outstanding(struct wg_device *device, size_t *outstanding);

/**
 * Sends a request that the device does not answer, such as "*RST". Answers that come all the same can be
 * received with wg_read; the next exchange drops them.
 */
int32_t wg_write(struct wg_device *device,
                 const void *request,
                 size_t request_bytes);

/**
 * Waits for one more reply, of a request sent with wg_write. `asked` and results as for wg_exchange; WG_AS_SENT
 * where the protocol or the framing gives the size.
 */
int32_t wg_read(struct wg_device *device,
                size_t asked,
                void *reply,
                size_t room,
                size_t *reply_bytes,
                struct wg_timing *timing);

/**
 * Modbus: reads `count` registers (1 to 125) from `address` on (0 is the first) of WG_TABLE_HOLDING or
 * WG_TABLE_INPUT in one request. `timing` is optional.
 */
int32_t wg_read_registers(struct wg_device *device,
                          int32_t table,
                          uint16_t address,
                          uint16_t *values,
                          size_t count,
                          struct wg_timing *timing);

/**
 * Modbus: reads `count` bits (1 to 2000) of WG_TABLE_COIL or WG_TABLE_DISCRETE, one byte each, 0 or 1; else as
 * wg_read_registers.
 */
int32_t wg_read_bits(struct wg_device *device,
                     int32_t table,
                     uint16_t address,
                     uint8_t *values,
                     size_t count,
                     struct wg_timing *timing);

/**
 * Modbus: writes holding registers (1 to 123) from `address` on: function 6 for one, else 16.
 */
int32_t wg_write_registers(struct wg_device *device,
                           uint16_t address,
                           const uint16_t *values,
                           size_t count,
                           struct wg_timing *timing);

/**
 * Modbus: writes coils (1 to 1968), one byte each, not 0 for on: function 5 for one, else 15.
 */
int32_t wg_write_coils(struct wg_device *device,
                       uint16_t address,
                       const uint8_t *values,
                       size_t count,
                       struct wg_timing *timing);

/**
 * Modbus: the unit that later calls address, instead of that of wg_options_modbus.
 */
int32_t wg_set_unit(struct wg_device *device, uint8_t unit);

/**
 * Modbus: the code of the exception that the last failed call with this device ended with
 * (WG_ERROR_EXCEPTION), such as 2 for an illegal data address; 0 if it failed for another reason.
 */
int32_t wg_exception(struct wg_device *device, int32_t *exception);

/**
 * Exchanges `count` requests of the same size, `depth` of them outstanding at once.
 *
 * `requests` is a matrix of `count` rows of `request_bytes`. `replies` becomes one of `count` rows of
 * `row_bytes`: row n is the reply to request n. The row size is the requested size of a reply (wiregauge
 * protocol, wg_options_raw); with other framings it is the maximum. `lengths` (optional, `count` items)
 * receives the size of each reply, `timings` (optional, `count` items) its times. The buffers must not
 * overlap. `answered` (optional) receives the number of replies: all, or on error those before the failed
 * one, whose rows are valid.
 */
int32_t wg_exchange_many(struct wg_device *device,
                         const void *requests,
                         size_t count,
                         size_t request_bytes,
                         void *replies,
                         size_t row_bytes,
                         size_t *lengths,
                         struct wg_timing *timings,
                         uint32_t depth,
                         size_t *answered);

/**
 * The same for requests of different sizes: they are concatenated in `requests`, and `ends[n]` (`count`
 * items) is the end of request n; the first begins at 0.
 */
int32_t wg_exchange_packed(struct wg_device *device,
                           const void *requests,
                           const size_t *ends,
                           size_t count,
                           void *replies,
                           size_t row_bytes,
                           size_t *lengths,
                           struct wg_timing *timings,
                           uint32_t depth,
                           size_t *answered);

/**
 * Runs a control loop at a fixed rate: in each cycle `step` computes the request from the newest reply.
 * `user` is passed to it. Every cycle writes a row to `cycles`, which has room for `room` rows; the loop
 * ends when it is full, or earlier by `step`. `ran` (optional) receives the number of cycles, also on
 * error.
 */
int32_t wg_control(struct wg_device *device,
                   const struct wg_control_plan *plan,
                   wg_step step,
                   void *user,
                   struct wg_cycle *cycles,
                   size_t room,
                   size_t *ran);

/**
 * Receives a stream into `into`, in transfers of `transfer_bytes`, `queue` of them pending (more than 1:
 * USB only). With the wiregauge protocol the device gets a start and an end command and sends its own
 * data; otherwise bytes are read as they arrive. `came` (optional) receives the number of bytes, also on
 * error.
 */
int32_t wg_read_stream(struct wg_device *device,
                       void *into,
                       size_t bytes,
                       size_t transfer_bytes,
                       size_t queue,
                       size_t *came);

/**
 * Sends all of `from` in the same way. `taken` (optional) receives the number of bytes sent, also on
 * error.
 */
int32_t wg_write_stream(struct wg_device *device,
                        const void *from,
                        size_t bytes,
                        size_t transfer_bytes,
                        size_t queue,
                        size_t *taken);

/**
 * A text about an open device: `what` is a WG_ABOUT_... of type text. `text`, `room` and `length` are as
 * for wg_device_error.
 */
int32_t wg_about_text(struct wg_device *device,
                      int32_t what,
                      char *text,
                      size_t room,
                      size_t *length);

/**
 * A number about an open device: `what` is a WG_ABOUT_... of type number.
 */
int32_t wg_about_number(struct wg_device *device, int32_t what, uint64_t *number);

/**
 * Opens a stored run: its directory, the beginning of its name among the stored runs, or "last" for the
 * newest. For a run in progress, only the points finished so far are available. On failure `*run` is NULL.
 */
int32_t wg_run_open(const char *name,
                    struct wg_run **run);

/**
 * Closes a run. NULL is ignored.
 */
int32_t wg_run_close(struct wg_run *run);

/**
 * The absolute path of the directory of a run, such as that of "last". `text`, `room` and `length` are as for
 * wg_device_error.
 */
int32_t wg_run_directory(struct wg_run *run,
                         char *text,
                         size_t room,
                         size_t *length);

/**
 * A run without its samples, as JSON (docs/run-format.md): kind, plan, conditions, summaries of the
 * points, warnings. `text`, `room` and `length` are as for wg_device_error.
 */
int32_t wg_run_json(struct wg_run *run, char *text, size_t room, size_t *length);

/**
 * Number of finished points. The functions below count them from 0.
 */
int32_t wg_run_points(struct wg_run *run, size_t *points);

/**
 * The summary of a point as JSON text: one of `points` in the text of wg_run_json.
 */
int32_t wg_run_point_json(struct wg_run *run,
                          size_t point,
                          char *text,
                          size_t room,
                          size_t *length);

/**
 * Number of sample rows of a point.
 */
int32_t wg_run_rows(struct wg_run *run, size_t point, size_t *rows);

/**
 * One column of the samples of a point, such as "rtt_ns": docs/run-format.md names them. Columns of names
 * ("status", "phase", "way", "xrun") contain indices from 0 into the lists given there. `values` has room
 * for `room` numbers (as many as wg_run_rows returns); `rows` (optional) receives the number written.
 */
int32_t wg_run_column(struct wg_run *run,
                      size_t point,
                      const char *column,
                      uint64_t *values,
                      size_t room,
                      size_t *rows);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* WIREGAUGE_H */
