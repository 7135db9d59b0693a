/* The C ABI of wiregauge: talk to a device over any link, read stored runs.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Made from crates/capi/src by `BLESS=1 cargo test -p wiregauge-capi --test tests header`. Do not edit.
 *
 * Every function that can fail returns a code: WG_OK or one of WG_ERROR_..., whose text wg_last_error has. Sizes are
 * size_t bytes, times uint64_t nanoseconds. An argument that is not said to be optional must not be NULL.
 *
 * Handles (wg_device, wg_options, wg_run) are numbers in the shape of pointers. Nothing lies behind them: do not
 * dereference them. A handle that was closed, or that never was one, is noticed and answered with WG_ERROR_HANDLE.
 * They belong to the process that made them: after fork() the child must open its own.
 *
 * Threads: any thread may use any handle, one at a time. A second call with the same handle is answered with
 * WG_ERROR_IN_USE at once; it does not wait. wg_interrupt alone may be called at any time, from signal handlers too.
 *
 * Other pointers are trusted: each must lead to as many bytes as its size says, until the function returns. Nothing is
 * kept of them afterwards, but for the `user` pointer of wg_control, which is handed to `step` meanwhile.
 *
 * No Rust panic leaves a function: it becomes WG_ERROR_BUG. docs/c.md shows how to build and what to expect. */


#ifndef WIREGAUGE_H
#define WIREGAUGE_H

#include <stddef.h>
#include <stdint.h>

/* As many bytes as are sent: where a function asks how long a reply is to be. */
#define WG_AS_SENT ((size_t)-1)

/* What the `step` of wg_control returns to end the loop. */
#define WG_END ((size_t)-1)


/**
 * Number of the ABI that this header describes; the shared library's name ends in it. It changes when programs must be
 * compiled again, not when functions are added.
 */
#define WG_ABI_VERSION 0

/**
 * Done.
 */
#define WG_OK 0

/**
 * The address, an option or a size cannot be used as given.
 */
#define WG_ERROR_USAGE 1

/**
 * The system refuses what was asked for the lack of a permission.
 */
#define WG_ERROR_PERMISSION 2

/**
 * Nothing answers at the address.
 */
#define WG_ERROR_UNREACHABLE 3

/**
 * There is no such device.
 */
#define WG_ERROR_NOT_FOUND 4

/**
 * Somebody else uses the device.
 */
#define WG_ERROR_BUSY 5

/**
 * The device is silent: no whole reply within the timeout.
 */
#define WG_ERROR_SILENT 6

/**
 * The device answers, but not in the protocol.
 */
#define WG_ERROR_RUBBISH 7

/**
 * The device went away.
 */
#define WG_ERROR_VANISHED 8

/**
 * Anything else that the system said.
 */
#define WG_ERROR_IO 9

/**
 * wg_interrupt ended the call.
 */
#define WG_ERROR_INTERRUPTED 10

/**
 * A NULL pointer, a size or a number that makes no sense: a mistake in the calling program.
 */
#define WG_ERROR_ARGUMENT 20

/**
 * The handle was closed before, or never was one.
 */
#define WG_ERROR_HANDLE 21

/**
 * Another thread (or the `step` of wg_control) is in a call with this handle.
 */
#define WG_ERROR_IN_USE 22

/**
 * The handle belongs to the process that this one was forked from.
 */
#define WG_ERROR_FORKED 23

/**
 * The room given is too small; what fits was written.
 */
#define WG_ERROR_ROOM 24

/**
 * Too many handles are open at once (1024 of a kind).
 */
#define WG_ERROR_TOO_MANY 25

/**
 * A stored run cannot be found or read.
 */
#define WG_ERROR_RUN 26

/**
 * A failure of a kind that has no number yet.
 */
#define WG_ERROR_OTHER 98

/**
 * A bug in wiregauge (a panic, caught). The handle can only be closed; please report the text.
 */
#define WG_ERROR_BUG 99

/**
 * Sleep in the read itself: one system call, but a wake-up in every RTT.
 */
#define WG_WAIT_BLOCK 0

/**
 * Sleep in poll, then read.
 */
#define WG_WAIT_POLL 1

/**
 * Never sleep: read again and again. Costs one core.
 */
#define WG_WAIT_SPIN 2

/**
 * Its reply came.
 */
#define WG_CYCLE_OK 0

/**
 * Its reply came, but it began later than the next one should have.
 */
#define WG_CYCLE_OVERRUN 1

/**
 * No reply within the timeout.
 */
#define WG_CYCLE_LOST 2

/**
 * Text: the address that it was opened with.
 */
#define WG_ABOUT_ADDRESS 1

/**
 * Text: the name that it gives itself; empty without the wiregauge protocol.
 */
#define WG_ABOUT_RESPONDER 2

/**
 * Text: the bus that it says it is on, such as "high-speed"; empty where it does not say.
 */
#define WG_ABOUT_BUS 3

/**
 * Text: settings of the link, a line "name: value" each.
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
 * Number: ticks a second of its clock; 0 without one.
 */
#define WG_ABOUT_TICK_HZ 7

/**
 * Number: width of its tick counter in bits; 0 without one.
 */
#define WG_ABOUT_TICK_BITS 8

/**
 * Number: what it can do, as the bits of HELLO (docs/protocol.md); 0 without the wiregauge protocol.
 */
#define WG_ABOUT_ABILITIES 9

/**
 * An open device.
 */
typedef struct wg_device wg_device;

/**
 * How a device is to be opened: the wiregauge protocol, a timeout of one second, asleep in the read, unless set
 * otherwise. May be used for any number of wg_open; a device that is open does not notice changes.
 */
typedef struct wg_options wg_options;

/**
 * A stored run.
 */
typedef struct wg_run wg_run;

/**
 * When one exchange happened. Times are nanoseconds of the host's monotonic clock since the device was opened.
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
     * Device clock when the reply was handed over, in ticks.
     */
    uint64_t device_tx_ticks;
} wg_timing;

/**
 * What a control loop is to be. Set all of it to zero and `struct_bytes` to sizeof(wg_control_plan) first.
 */
typedef struct wg_control_plan {
    /**
     * sizeof(wg_control_plan): how a later library knows which fields this program has.
     */
    size_t struct_bytes;
    /**
     * Time between the starts of two cycles; 0: as fast as replies come.
     */
    uint64_t period_ns;
    /**
     * Room for a request's payload, in bytes: at most WG_ABOUT_LARGEST_REQUEST.
     */
    size_t largest_request;
    /**
     * Size of a reply, as `asked` of wg_exchange: usually WG_AS_SENT.
     */
    size_t reply_bytes;
    /**
     * Requests outstanding at once, 1 to 4096. With 1, a cycle's command is made from the reply to the cycle before;
     * with d, from that to the cycle d before: the repetition time shrinks, the dead time grows.
     */
    uint32_t depth;
    /**
     * SCHED_FIFO priority of the loop, 1 to 99; 0: as it is.
     */
    uint32_t priority;
    /**
     * Not 0: keep the loop on the processor `cpu`.
     */
    uint32_t pin;
    /**
     * The processor, from 0.
     */
    uint32_t cpu;
    /**
     * Lost cycles in a row that end the loop, with WG_ERROR_SILENT; 0: none do.
     */
    uint32_t give_up;
    /**
     * Must be 0.
     */
    uint32_t reserved;
} wg_control_plan;

/**
 * Turns the newest measurement into the next command. `cycle` counts from 0; `reply` is the newest reply, NULL before
 * there is one; the request is written to `request`, which has `room` bytes. Returns how many bytes it wrote, or WG_END
 * to end the loop. It must return: no longjmp, no C++ exception, no mexErrMsgTxt out of it. It must not use the device.
 */
typedef size_t (*wg_step)(void *user,
                          uint64_t cycle,
                          const uint8_t *reply,
                          size_t reply_bytes,
                          uint8_t *request,
                          size_t room);

/**
 * One cycle as it was. Times are nanoseconds since the first cycle.
 */
typedef struct wg_cycle {
    /**
     * When it should have begun; equal to `start_ns` without a period.
     */
    uint64_t intended_ns;
    /**
     * When its request was handed over.
     */
    uint64_t start_ns;
    /**
     * Time to the last byte of its reply; how long was waited if there was none.
     */
    uint64_t rtt_ns;
    /**
     * Time that `step` took.
     */
    uint64_t step_ns;
    /**
     * Device clock when the request had arrived, in ticks.
     */
    uint64_t device_rx_ticks;
    /**
     * Device clock when the reply was handed over, in ticks.
     */
    uint64_t device_tx_ticks;
    /**
     * The cycle whose reply its command was made from; UINT64_MAX before there was one.
     */
    uint64_t made_from;
    /**
     * How it ended: one of WG_CYCLE_...
     */
    uint8_t status;
} wg_cycle;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the library, such as "0.1.0". Never freed.
 */
const char *wg_version(void);

/**
 * The ABI of the library that is loaded. A program that loads it by hand (dlopen, LabVIEW) compares it with
 * WG_ABI_VERSION.
 */
uint32_t wg_abi_version(void);

/**
 * The name of a code, such as "WG_ERROR_SILENT"; "unknown" for a number that is none. Never freed.
 */
const char *wg_error_name(int32_t code);

/**
 * What the last call that failed in this thread has to say: what was being done, to which device, what the system
 * said, and on a line of its own what to try. Empty before the first failure; a call that succeeds does not change it.
 * Valid until the next failure in the same thread. Where calls wander between threads (LabVIEW), use wg_device_error.
 */
const char *wg_last_error(void);

/**
 * Makes options, to be freed with wg_options_free.
 */
int32_t wg_options_new(struct wg_options **options);

/**
 * Frees options. NULL is left alone.
 */
int32_t wg_options_free(struct wg_options *options);

/**
 * After so long without a whole reply a call has failed. At least 10 us, at most a day.
 */
int32_t wg_options_timeout(struct wg_options *options, uint64_t timeout_ns);

/**
 * How to wait for a reply: one of WG_WAIT_...
 */
int32_t wg_options_wait(struct wg_options *options, int32_t wait);

/**
 * The device speaks the wiregauge protocol: it is asked who it is when it is opened. The default.
 */
int32_t wg_options_wiregauge(struct wg_options *options);

/**
 * Nothing is added to what is sent, and a reply is as long as its caller says.
 */
int32_t wg_options_raw(struct wg_options *options);

/**
 * Every reply is so many bytes long; at least 1.
 */
int32_t wg_options_fixed(struct wg_options *options, size_t reply_bytes);

/**
 * Each message ends with these 1 to 8 bytes. They are added to requests and taken off replies. SCPI: "\n", 1.
 */
int32_t wg_options_terminator(struct wg_options *options,
                              const void *end,
                              size_t end_bytes);

/**
 * Each message begins with its length, in a field of 1, 2 or 4 bytes. `big_endian`: not 0 for the most significant
 * byte first. `counts_itself`: not 0 where the number counts the field as well.
 */
int32_t wg_options_length_prefix(struct wg_options *options,
                                 int32_t field_bytes,
                                 int32_t big_endian,
                                 int32_t counts_itself);

/**
 * Baud rate of a serial line; 0 leaves it as it is set. Of no effect on other links.
 */
int32_t wg_options_baud(struct wg_options *options, uint32_t baud);

/**
 * TCP: not 0 acknowledges segments at once (costs a system call a read). Of no effect on other links.
 */
int32_t wg_options_quick_ack(struct wg_options *options,
                             int32_t quick_ack);

/**
 * Opens the device at an address such as "tcp://10.0.0.5:7700" or "serial:///dev/ttyACM0", and with the wiregauge
 * protocol asks it who it is. `options` may be NULL for the defaults. On failure `*device` is NULL.
 */
int32_t wg_open(const char *address,
                const struct wg_options *options,
                struct wg_device **device);

/**
 * Closes a device; replies that are outstanding are let go. NULL is left alone. Another thread must not be in a call
 * with it: that is answered with WG_ERROR_IN_USE, and the device stays open.
 */
int32_t wg_close(struct wg_device *device);

/**
 * Changes the timeout of an open device, from the next call on; see wg_options_timeout.
 */
int32_t wg_set_timeout(struct wg_device *device, uint64_t timeout_ns);

/**
 * Ends the call that waits with this device, or else the next call with it, with WG_ERROR_INTERRUPTED. A call that
 * waits notices within 100 ms. Outstanding replies are let go; the device can be used on. May be called from any
 * thread and from a signal handler, and so leaves no text for wg_last_error.
 */
int32_t wg_interrupt(struct wg_device *device);

/**
 * What the last call that failed with this device has to say, whichever thread made it; see wg_last_error. The text
 * and its NUL are copied into `text`, which has `room` bytes; `length` (optional) is told its length without the NUL.
 * With `room` 0 only the length is told. What does not fit is cut off: WG_ERROR_ROOM.
 */
int32_t wg_device_error(struct wg_device *device,
                        char *text,
                        size_t room,
                        size_t *length);

/**
 * One exchange: sends the request and waits for its reply.
 *
 * `asked` is the size of the reply: the payload asked for (wiregauge protocol), or how much to wait for
 * (wg_options_raw). WG_AS_SENT: as many as were sent. Where the framing tells by itself, it is not looked at.
 *
 * The reply's payload is copied to `reply`, which has `room` bytes and may be the request's own buffer; `reply_bytes`
 * (optional) is told how many came, `timing` (optional) when. A reply that is larger than `room` is cut off there, with
 * WG_ERROR_ROOM.
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
 * Sends a request without waiting for its reply, which wg_next_reply takes: replies come in the order of the requests.
 * It may have to wait until the system takes the bytes. `asked` as for wg_exchange.
 */
int32_t wg_submit(struct wg_device *device,
                  const void *request,
                  size_t request_bytes,
                  size_t asked);

/**
 * Waits for the reply to the oldest submitted request. Its results are those of wg_exchange.
 */
int32_t wg_next_reply(struct wg_device *device,
                      void *reply,
                      size_t room,
                      size_t *reply_bytes,
                      struct wg_timing *timing);

/**
 * How many submitted requests there are whose replies were not taken yet.
 */
int32_t wg_outstanding(struct wg_device *device, size_t *outstanding);

/**
 * Exchanges `count` requests of the same size, `depth` of them outstanding at once.
 *
 * `requests` is a matrix of `count` rows of `request_bytes`. `replies` becomes one of `count` rows of `row_bytes`: row n
 * is the reply to request n. A row is as long as a reply that is asked for (wiregauge protocol) or waited for
 * (wg_options_raw); with other framings it is the longest that is taken. `lengths` (optional, `count` of them) is told how many
 * bytes came in each row, `timings` (optional, `count` of them) when. The buffers must not overlap. `answered`
 * (optional) is told how many were answered: all, or on failure those before the one that failed, whose rows are right.
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
 * The same for requests of different sizes: they stand one behind the other in `requests`, and `ends[n]`, of which there
 * are `count`, is where request n ends; the first begins at 0.
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
 * Runs a control loop at a fixed rate: each cycle's request is what `step` made of the newest reply. `user` is handed
 * to it. Every cycle leaves a row in `cycles`, which has room for `room` of them: then the loop ends, if `step` did not
 * end it before. `ran` (optional) is told how many there were, on failure as well.
 */
int32_t wg_control(struct wg_device *device,
                   const struct wg_control_plan *plan,
                   wg_step step,
                   void *user,
                   struct wg_cycle *cycles,
                   size_t room,
                   size_t *ran);

/**
 * Fills `into` with what the device sends, in transfers of `transfer_bytes`, `queue` of them pending (more than 1: USB
 * only). With the wiregauge protocol the device is told to begin and to end, and what it sends is its own; otherwise
 * bytes are taken as they come. `came` (optional) is told how many came, on failure as well.
 */
int32_t wg_read_stream(struct wg_device *device,
                       void *into,
                       size_t bytes,
                       size_t transfer_bytes,
                       size_t queue,
                       size_t *came);

/**
 * Sends all of `from` likewise. `taken` (optional) is told how many bytes were taken, on failure as well.
 */
int32_t wg_write_stream(struct wg_device *device,
                        const void *from,
                        size_t bytes,
                        size_t transfer_bytes,
                        size_t queue,
                        size_t *taken);

/**
 * A text about an open device: `what` is one of WG_ABOUT_... that are texts. `text`, `room` and `length` are as for
 * wg_device_error.
 */
int32_t wg_about_text(struct wg_device *device,
                      int32_t what,
                      char *text,
                      size_t room,
                      size_t *length);

/**
 * A number about an open device: `what` is one of WG_ABOUT_... that are numbers.
 */
int32_t wg_about_number(struct wg_device *device, int32_t what, uint64_t *number);

/**
 * Opens a stored run: its directory, the beginning of its name among the stored runs, or "last" for the newest. A run
 * that is still being written gives the points that were finished when it was opened. On failure `*run` is NULL.
 */
int32_t wg_run_open(const char *name,
                    struct wg_run **run);

/**
 * Closes a run. NULL is left alone.
 */
int32_t wg_run_close(struct wg_run *run);

/**
 * The whole of a run but its samples, as the JSON text that docs/run-format.md describes: kind, plan, conditions,
 * summaries of the points, warnings. `text`, `room` and `length` are as for wg_device_error.
 */
int32_t wg_run_json(struct wg_run *run,
                    char *text,
                    size_t room,
                    size_t *length);

/**
 * How many finished points it has. The functions below count them from 0.
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
 * How many rows the samples of a point have.
 */
int32_t wg_run_rows(struct wg_run *run, size_t point, size_t *rows);

/**
 * One column of the samples of a point, such as "rtt_ns": docs/run-format.md names them. Columns of words ("status",
 * "phase", "way", "xrun") are their positions, from 0, in the lists given there. `values` has room for `room` numbers
 * (wg_run_rows of them are needed); `rows` (optional) is told how many were written.
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
