/* The least that a C program does to stream over bulk endpoints with libusb, for comparison.
 *
 *   libusb_stream in|out TRANSFER QUEUE SETTLE_MS MEASURE_MS [check] [devmem]
 *
 * QUEUE 0 uses the synchronous calls, 1 and more so many asynchronous transfers. It speaks just
 * enough of docs/protocol.md to start and end a stream of the responder behind 1d6b:0104. OUT streams
 * carry the pattern. `check` compares what comes IN with it, `devmem` takes the transfers' buffers
 * from usbfs (no copy in the kernel). Prints one line of JSON.
 */
#define _POSIX_C_SOURCE 199309L
#include <inttypes.h>
#include <libusb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { MAX_QUEUE = 64, MAX_TRANSFER = 1 << 20, TIMEOUT_MS = 2000 };
enum { REQUEST = 16, RESPONSE = 32, ORDER = 16, REPORT = 72, SINK = 0x12, SOURCE = 0x13, START = 1, END = 2 };

static libusb_context *context;
static libusb_device_handle *handle;
static uint8_t in_address, out_address;

static bool incoming, check;
static int transfer_bytes, queue;
static uint64_t position, wrong, bytes, transfers;
static double measure_from, measure_to, first_in, last_in;
static int pending;
static bool failed;
static uint32_t sync_words[MAX_TRANSFER / 4];
static uint8_t *const sync_buffer = (uint8_t *)sync_words;

static void fail(const char *what, int code) {
  fprintf(stderr, "libusb_stream: %s: %s\n", what, code ? libusb_error_name(code) : "unexpected");
  exit(3);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double cpu_time(void) {
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
  return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6;
}

static void put32(uint8_t *at, uint32_t value) {
  for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> (8 * i));
}

static uint16_t crc(const uint8_t *data, int length) { /* CRC-16/CCITT-FALSE, check field as zero */
  uint16_t sum = 0xffff;
  for (int i = 0; i < length; i++) {
    uint8_t x = (uint8_t)((sum >> 8) ^ (i == 2 || i == 3 ? 0 : data[i]));
    x ^= x >> 4;
    sum = (uint16_t)((sum << 8) ^ (x << 12) ^ (x << 5) ^ x);
  }
  return sum;
}

/* Word k of a stream is k * 0x9E3779B1. Transfers here are whole words, buffers are aligned. */
static void fill(uint8_t *to, int length) {
  uint32_t *words = (uint32_t *)(void *)to, first = (uint32_t)(position / 4);
  for (uint32_t i = 0; i < (uint32_t)length / 4; i++) words[i] = (first + i) * 0x9E3779B1u;
  position += (uint64_t)length;
}

static void compare(const uint8_t *from, int length) {
  const uint32_t *words = (const uint32_t *)(const void *)from;
  uint32_t first = (uint32_t)(position / 4), difference = 0;
  for (uint32_t i = 0; i < (uint32_t)length / 4; i++) difference |= words[i] ^ (first + i) * 0x9E3779B1u;
  if (difference) wrong += (uint64_t)length;
  position += (uint64_t)length;
}

static void count(int length) {
  double t = now();
  if (t < measure_from || t > measure_to) return;
  if (first_in == 0) first_in = t; /* bytes count from the end of the first transfer on */
  else bytes += (uint64_t)length, transfers++;
  last_in = t;
}

/* ---- requests of the protocol ---- */

static void request(uint8_t kind, uint32_t sequence, uint8_t verb) {
  uint8_t frame[REQUEST + ORDER] = {0xa7, kind};
  put32(frame + 4, sequence);
  put32(frame + 8, ORDER);
  put32(frame + 12, verb == START ? RESPONSE : RESPONSE + REPORT);
  uint16_t sum = crc(frame, REQUEST);
  frame[2] = (uint8_t)sum;
  frame[3] = (uint8_t)(sum >> 8);
  frame[REQUEST] = verb;
  put32(frame + REQUEST + 4, (uint32_t)transfer_bytes);
  int done, code = libusb_bulk_transfer(handle, out_address, frame, sizeof frame, &done, TIMEOUT_MS);
  if (code) fail("request", code);
}

/* Reads until the answer to `sequence` begins in a transfer; false if it is not OK or does not come. */
static bool answered(uint8_t kind, uint32_t sequence) {
  for (int tries = 0; tries < 4096; tries++) {
    int done = 0;
    int code = libusb_bulk_transfer(handle, in_address, sync_buffer, MAX_TRANSFER, &done, TIMEOUT_MS);
    for (int at = 0; at + RESPONSE <= done; at++) {
      const uint8_t *head = sync_buffer + at;
      if (head[0] != 0x7a || head[1] != kind || memcmp(head + 4, &sequence, 4)) continue;
      if (crc(head, RESPONSE) == (head[2] | head[3] << 8)) return head[12] == 0 && head[13] == 0;
    }
    if (code) return false;
  }
  return false;
}

/* ---- the two ways to stream ---- */

static void stream_sync(void) {
  uint8_t address = incoming ? in_address : out_address;
  while (now() < measure_to) {
    if (!incoming) fill(sync_buffer, transfer_bytes);
    int done = 0, code = libusb_bulk_transfer(handle, address, sync_buffer, transfer_bytes, &done, TIMEOUT_MS);
    if (code) fail("transfer", code);
    count(done);
    if (incoming && check) compare(sync_buffer, done);
  }
}

static void LIBUSB_CALL completed(struct libusb_transfer *transfer) {
  if (transfer->status != LIBUSB_TRANSFER_COMPLETED) failed = true;
  count(transfer->actual_length);
  if (incoming && check) compare(transfer->buffer, transfer->actual_length);
  if (!failed && now() < measure_to) {
    if (!incoming) fill(transfer->buffer, transfer_bytes);
    if (libusb_submit_transfer(transfer) == 0) return;
    failed = true;
  }
  pending--;
}

static void stream_queued(bool devmem) {
  static struct libusb_transfer *all[MAX_QUEUE];
  static uint8_t *buffers[MAX_QUEUE];
  for (int i = 0; i < queue; i++) {
    all[i] = libusb_alloc_transfer(0);
    buffers[i] = devmem ? libusb_dev_mem_alloc(handle, (size_t)transfer_bytes) : malloc((size_t)transfer_bytes);
    if (!all[i] || !buffers[i]) fail("memory", LIBUSB_ERROR_NO_MEM);
    memset(buffers[i], 0, (size_t)transfer_bytes);
    libusb_fill_bulk_transfer(all[i], handle, incoming ? in_address : out_address, buffers[i], transfer_bytes,
                              completed, NULL, TIMEOUT_MS);
  }
  for (int i = 0; i < queue; i++) {
    if (!incoming) fill(buffers[i], transfer_bytes);
    int code = libusb_submit_transfer(all[i]);
    if (code) fail("submit", code);
    pending++;
  }
  while (pending > 0) libusb_handle_events(context);
  for (int i = 0; i < queue; i++) {
    if (devmem) libusb_dev_mem_free(handle, buffers[i], (size_t)transfer_bytes);
    else free(buffers[i]);
    libusb_free_transfer(all[i]);
  }
  if (failed) fail("transfer", 0);
}

/* The first interface of class 0xff with a bulk endpoint each way. */
static int open_device(void) {
  handle = libusb_open_device_with_vid_pid(context, 0x1d6b, 0x0104);
  if (!handle) fail("no device 1d6b:0104", LIBUSB_ERROR_NO_DEVICE);
  struct libusb_config_descriptor *configuration;
  int code = libusb_get_active_config_descriptor(libusb_get_device(handle), &configuration);
  if (code) fail("descriptors", code);
  int found = -1;
  for (int i = 0; i < configuration->bNumInterfaces && found < 0; i++) {
    const struct libusb_interface_descriptor *one = configuration->interface[i].altsetting;
    in_address = out_address = 0;
    if (one->bInterfaceClass != LIBUSB_CLASS_VENDOR_SPEC) continue;
    for (int e = 0; e < one->bNumEndpoints; e++) {
      const struct libusb_endpoint_descriptor *endpoint = one->endpoint + e;
      if ((endpoint->bmAttributes & 3) != LIBUSB_TRANSFER_TYPE_BULK) continue;
      uint8_t *place = endpoint->bEndpointAddress & 0x80 ? &in_address : &out_address;
      if (!*place) *place = endpoint->bEndpointAddress;
    }
    if (in_address && out_address) found = one->bInterfaceNumber;
  }
  libusb_free_config_descriptor(configuration);
  if (found < 0) fail("no bulk endpoints", LIBUSB_ERROR_NOT_FOUND);
  return found;
}

int main(int argc, char **argv) {
  if (argc < 6) {
    fputs("usage: libusb_stream in|out TRANSFER QUEUE SETTLE_MS MEASURE_MS [check] [devmem]\n", stderr);
    return 2;
  }
  bool devmem = false;
  incoming = !strcmp(argv[1], "in");
  transfer_bytes = atoi(argv[2]);
  queue = atoi(argv[3]);
  double settle = atof(argv[4]) * 1e-3, measure = atof(argv[5]) * 1e-3;
  for (int i = 6; i < argc; i++) {
    check |= !strcmp(argv[i], "check");
    devmem |= !strcmp(argv[i], "devmem");
  }
  if (transfer_bytes < 4 || transfer_bytes % 4 || transfer_bytes > MAX_TRANSFER || queue < 0 || queue > MAX_QUEUE) {
    fputs("libusb_stream: sizes are multiples of 4 up to 1 MiB, queues up to 64\n", stderr);
    return 2;
  }
  int code = libusb_init(&context);
  if (code) fail("libusb_init", code);
  int number = open_device();
  if ((code = libusb_claim_interface(handle, number))) fail("claim", code);

  uint8_t kind = incoming ? SOURCE : SINK;
  uint32_t sequence = (uint32_t)(now() * 1e6); /* a stream of its own */
  request(kind, sequence, START);
  if (!answered(kind, sequence)) fail("the responder did not start the stream", 0);
  measure_from = now() + settle;
  measure_to = measure_from + measure;
  double cpu = cpu_time(), begun = now();
  if (queue) stream_queued(devmem);
  else stream_sync();
  double busy = (cpu_time() - cpu) / (now() - begun);
  request(kind, sequence + 1, END);
  if (!answered(kind, sequence + 1)) fail("the responder did not end the stream", 0);

  double rate = last_in > first_in ? (double)bytes / (last_in - first_in) : 0;
  printf("{\"tool\": \"libusb\", \"direction\": \"%s\", \"transfer_bytes\": %d, \"queue\": %d, \"check\": %s, "
         "\"devmem\": %s, \"bytes_s\": %.1f, \"transfers\": %" PRIu64 ", \"cpu\": %.4f, \"wrong_bytes\": %" PRIu64 "}\n",
         argv[1], transfer_bytes, queue, check ? "true" : "false", devmem ? "true" : "false", rate, transfers, busy,
         wrong);
  return wrong ? 1 : 0;
}
