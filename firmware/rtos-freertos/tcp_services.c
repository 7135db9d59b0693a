/* TCP by sockets: a task listens on each port and hands what it accepts to one of a few tasks, each of which serves
 * one connection until it ends. They block where there is nothing else to do, and nowhere else: a host that sends
 * before it reads, and reads before it sends, is served either way. */
#include <stdbool.h>
#include <string.h>

#include "FreeRTOS.h"
#include "arrivals.h"
#include "board.h"
#include "device.h"
#include "lwip/sockets.h"
#include "lwip_errno.h"
#include "queue.h"
#include "services.h"
#include "task.h"
#include "wg_responder.h"

#define ACCEPTED_AT_ONCE 4
#define SECONDS_TO_FINISH 3 /* for a host that has closed its side and takes none of its answers */

/* One of the serving tasks. */
typedef struct worker {
    const struct service *service;
    int socket;
    arrivals *arrivals;
    bool host_done; /* it has closed its side, and may still wait for answers */
    uint8_t in[TCP_WND];
    size_t in_first, in_count;
    uint8_t out[TCP_SND_BUF];
    size_t out_first, out_count;
    wg_device device;
    wg_responder responder;
    uint8_t message[MESSAGE_ROOM];
    StaticTask_t task;
    StackType_t stack[SERVICE_STACK];
} worker;

/* What a port does with the bytes. Both return how many they used or made. */
typedef struct service {
    uint16_t port;
    const char *name;
    size_t (*take)(worker *, const uint8_t *bytes, size_t n);
    size_t (*give)(worker *, uint8_t *to, size_t room);
    bool (*owes)(const worker *);
} service;

typedef struct {
    int socket;
    const service *service;
} job;

static worker workers[CONNECTIONS];
static QueueHandle_t jobs;
static volatile int idle_workers; /* changed with interrupts off */

static size_t protocol_take(worker *w, const uint8_t *bytes, size_t n) {
    uint64_t ticks;
    size_t together = arrivals_look(w->arrivals, n, &ticks);
    size_t used = wg_take(&w->responder, bytes, together, ticks);
    arrivals_pass(w->arrivals, used);
    return used;
}

static size_t protocol_give(worker *w, uint8_t *to, size_t room) { return wg_give(&w->responder, to, room); }

static bool protocol_owes(const worker *w) { return wg_owes(&w->responder); }

static size_t echo_take(worker *w, const uint8_t *bytes, size_t n) {
    size_t at = w->out_first + w->out_count;
    size_t room = sizeof w->out - at;
    if (n > room) n = room;
    memcpy(w->out + at, bytes, n);
    w->out_count += n;
    return n;
}

static size_t echo_give(worker *w, uint8_t *to, size_t room) {
    (void)w, (void)to, (void)room;
    return 0;
}

static bool echo_owes(const worker *w) {
    (void)w;
    return false;
}

static const service protocol = {PROTOCOL_PORT, "wg", protocol_take, protocol_give, protocol_owes};
static const service echo = {ECHO_PORT, "echo", echo_take, echo_give, echo_owes};

static bool would_block(void) { return errno == EWOULDBLOCK || errno == EAGAIN; }

/* The three steps below say whether they moved anything, and clear `alive` when the connection is over. */

static bool take(worker *w) {
    size_t used = w->in_count ? w->service->take(w, w->in + w->in_first, w->in_count) : 0;
    w->in_first += used;
    w->in_count -= used;
    return used > 0;
}

static bool send_some(worker *w, bool *alive) {
    if (w->out_count == 0) {
        w->out_first = 0;
        w->out_count = w->service->give(w, w->out, sizeof w->out);
    }
    if (w->out_count == 0) return false;
    ssize_t sent = lwip_send(w->socket, w->out + w->out_first, w->out_count, MSG_DONTWAIT);
    if (sent < 0) {
        *alive = would_block();
        return false;
    }
    w->out_first += (size_t)sent;
    w->out_count -= (size_t)sent;
    if (w->out_count == 0) w->out_first = 0;
    return sent > 0;
}

/* Waits for the host if there is nothing to be sent to it. */
static bool receive(worker *w, bool *alive) {
    if (w->in_count || w->host_done) return false;
    bool wait = w->out_count == 0 && !w->service->owes(w);
    ssize_t came = lwip_recv(w->socket, w->in, sizeof w->in, wait ? 0 : MSG_DONTWAIT);
    if (came < 0) {
        *alive = would_block();
        return false;
    }
    w->host_done = came == 0;
    w->in_first = 0;
    w->in_count = (size_t)came;
    return true;
}

/* Nothing could be moved: the host takes nothing now, and has sent nothing, or nothing more that there is room for.
 * False if a second has passed. */
static bool wait_for_either(worker *w) {
    fd_set can_read, can_write;
    FD_ZERO(&can_read);
    FD_ZERO(&can_write);
    if (!w->in_count && !w->host_done) FD_SET(w->socket, &can_read);
    FD_SET(w->socket, &can_write);
    struct timeval at_most = {.tv_sec = 1};
    return lwip_select(w->socket + 1, &can_read, &can_write, NULL, &at_most) != 0;
}

/* Until the connection ends. True if it is to be closed, false if it is broken or of no use any more. */
static bool serve(worker *w) {
    bool alive = true;
    int idle_seconds = 0;
    for (;;) {
        bool moved = take(w);
        moved |= send_some(w, &alive);
        if (!alive) return false;
        if (w->host_done) {
            /* A source flows until its host ends it, which one that has closed cannot. */
            if (wg_sources(&w->responder) || idle_seconds >= SECONDS_TO_FINISH) return false;
            if (!w->out_count && !w->in_count && !w->service->owes(w)) return true;
        }
        moved |= receive(w, &alive);
        if (!alive) return false;
        if (moved || wait_for_either(w)) {
            idle_seconds = 0;
        } else {
            idle_seconds++;
        }
    }
}

static void set(int socket, int level, int option, int value) {
    lwip_setsockopt(socket, level, option, &value, sizeof value);
}

/* Ends a connection without waiting for what is under way. */
static void reset(int socket) {
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    lwip_setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    lwip_close(socket);
}

static void work(void *of) {
    worker *w = of;
    for (;;) {
        job j;
        xQueueReceive(jobs, &j, portMAX_DELAY);
        struct sockaddr_in host;
        socklen_t size = sizeof host;
        w->socket = j.socket;
        w->service = j.service;
        w->host_done = false;
        w->in_first = w->in_count = w->out_first = w->out_count = 0;
        device_for_tcp(&w->device, w->message, sizeof w->message);
        wg_begin(&w->responder, &w->device);

        set(w->socket, IPPROTO_TCP, TCP_NODELAY, 1);
        /* A host that vanished without a word holds one of few tasks. */
        set(w->socket, SOL_SOCKET, SO_KEEPALIVE, 1);
        set(w->socket, IPPROTO_TCP, TCP_KEEPIDLE, 10);
        set(w->socket, IPPROTO_TCP, TCP_KEEPINTVL, 2);
        set(w->socket, IPPROTO_TCP, TCP_KEEPCNT, 4);
        if (lwip_getpeername(w->socket, (struct sockaddr *)&host, &size) == 0) {
            w->arrivals = arrivals_open(&host);
            bool orderly = serve(w);
            arrivals_close(w->arrivals);
            if (orderly) {
                lwip_close(w->socket);
            } else {
                reset(w->socket);
            }
        } else { /* it has gone already */
            lwip_close(w->socket);
        }
        taskENTER_CRITICAL();
        idle_workers++;
        taskEXIT_CRITICAL();
    }
}

static bool take_worker(void) {
    taskENTER_CRITICAL();
    bool there_is = idle_workers > 0;
    if (there_is) idle_workers--;
    taskEXIT_CRITICAL();
    return there_is;
}

static void listen_on(void *of) {
    job j = {.service = of};
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = lwip_htons(j.service->port)};
    int listener = lwip_socket(AF_INET, SOCK_STREAM, 0);
    set(listener, SOL_SOCKET, SO_REUSEADDR, 1);
    if (lwip_bind(listener, (struct sockaddr *)&any, sizeof any) != 0 || lwip_listen(listener, ACCEPTED_AT_ONCE) != 0) {
        board_panic("tcp");
    }
    for (;;) {
        j.socket = lwip_accept(listener, NULL, NULL);
        if (j.socket < 0) {
            vTaskDelay(1); /* out of sockets for now */
        } else if (take_worker()) {
            xQueueSend(jobs, &j, portMAX_DELAY);
        } else {
            reset(j.socket);
        }
    }
}

void tcp_services_begin(void) {
    static StaticQueue_t jobs_state;
    static uint8_t jobs_memory[CONNECTIONS * sizeof(job)];
    static StaticTask_t listeners[2];
    static StackType_t stacks[2][SERVICE_STACK];
    static const service *const services[2] = {&protocol, &echo};

    jobs = xQueueCreateStatic(CONNECTIONS, sizeof(job), jobs_memory, &jobs_state);
    idle_workers = CONNECTIONS;
    for (int i = 0; i < CONNECTIONS; i++) {
        worker *w = &workers[i];
        xTaskCreateStatic(work, "tcp", SERVICE_STACK, w, SERVICE_PRIORITY, w->stack, &w->task);
    }
    for (int i = 0; i < 2; i++) {
        xTaskCreateStatic(listen_on, services[i]->name, SERVICE_STACK, (void *)(uintptr_t)services[i], SERVICE_PRIORITY,
                          stacks[i], &listeners[i]);
    }
}
