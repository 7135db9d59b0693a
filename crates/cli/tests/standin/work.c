/* Streams, graphs and kernels of the stand-in. Work waits in its stream until somebody waits for it, so that
 * who does not wait finds nothing. A kernel that stays runs at once, in threads of this host. */
#include "standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIREGAUGE_WORDS "words.h"
#include "kernels.cu"

typedef struct Event {
    int recorded;
    struct Stream *in;
} Event;

/* What wiregauge_pass is given. */
typedef struct {
    Pass pass;
    const short *in;
    short *out;
    u32 first, count;
} Given;

typedef struct Work {
    enum { COPY, CLEAR, LAUNCH, RECORD, WAIT } kind;
    void *to;
    const void *from;
    size_t bytes;
    int back;
    Given given;
    u32 blocks, threads;
    Event *event;
    struct Work *next;
} Work;

typedef struct Stream {
    Work *first, **last;
} Stream;

enum { PASS = 1, PERSIST = 2 };

typedef struct {
    int which;
} Function;

static Function pass_function = {PASS}, persist_function = {PERSIST};
static char *image;

enum { STREAMS = 64 };

static Stream *default_stream, *all_streams[STREAMS];
static int streams;

int streams_left(void) { return streams; }

/* The kernel that stays. */
static struct {
    int threads, ended;
    Stream *in;
    Mailbox *mail;
    State *state;
    const Pass *passes;
    u32 passes_count;
    const short *ring_in;
    short *ring_out;
    u64 patience_ns;
    pthread_t thread[MULTIPROCESSORS * THREADS_MOST];
    Place place[MULTIPROCESSORS * THREADS_MOST];
    pthread_barrier_t of_block[MULTIPROCESSORS];
} stays;

int kernel_runs(void) { return stays.threads && __sync_fetch_and_add(&stays.ended, 0) < stays.threads; }

static void join_kernel(void) {
    if (!stays.threads)
        return;
    for (int i = 0; i < stays.threads; i++)
        pthread_join(stays.thread[i], NULL);
    for (int i = 0; i < MULTIPROCESSORS; i++)
        pthread_barrier_destroy(&stays.of_block[i]);
    note("the kernel that stays ended: %s", stays.mail->ended == QUIT ? "told" : "gave up");
    stays.threads = 0;
}

static Stream *new_stream(void) {
    Stream *stream = calloc(1, sizeof *stream);
    if (stream)
        stream->last = &stream->first;
    return stream;
}

static Stream *stream_of(void *handle) {
    if (!handle && !default_stream)
        default_stream = new_stream();
    return handle ? handle : default_stream;
}

static Result put(void *handle, const Work *what) {
    Stream *stream = stream_of(handle);
    Work *work = malloc(sizeof *work);
    if (!stream || !work) {
        free(work);
        return OUT_OF_MEMORY;
    }
    *work = *what;
    work->next = NULL;
    *stream->last = work;
    stream->last = &work->next;
    return SUCCESS;
}

/* What lies beyond the memory that it was given. */
static int is_astray(const Given *given) {
    const Pass *pass = &given->pass;
    const size_t first = given->first, count = given->count, samples = pass->samples;
    const size_t before = pass->taps_count ? (pass->taps_count - 1) * (size_t)pass->stride : 0;
    if (first + count > samples)
        return 1;
    if (pass->from ? !is_known(pass->from, 4 * (before + samples), DEVICE_MEMORY)
                   : !is_known(given->in + first, 2 * count, 0))
        return 1;
    if (pass->from && !is_known(pass->taps, 4 * pass->taps_count, DEVICE_MEMORY))
        return 1;
    if (pass->ops_count && !is_known(pass->ops, sizeof(Op) * pass->ops_count, DEVICE_MEMORY))
        return 1;
    if (!pass->to)
        return !is_known(given->out + first, 2 * count, 0);
    const size_t line = 4 * (pass->history + samples);
    return !is_known(pass->to, line, DEVICE_MEMORY) || !is_known(pass->next, line, DEVICE_MEMORY);
}

static Result finish(Stream *stream, const Event *until);

static Result run(Stream *stream, Work *work) {
    switch (work->kind) {
    case COPY:
        memcpy(work->to, work->from, work->bytes);
        if (work->back && getenv("STANDIN_SPOIL"))
            ((short *)work->to)[work->bytes / 4] ^= 0x40;
        return SUCCESS;
    case CLEAR:
        memset(work->to, 0, work->bytes);
        return SUCCESS;
    case LAUNCH:
        if (is_astray(&work->given)) {
            note("astray: a kernel beyond its memory");
            return ILLEGAL_ADDRESS;
        }
        for (u32 at = 0; at < work->blocks * work->threads; at++) {
            place = (Place){at % work->threads, work->threads, at / work->threads, work->blocks, NULL};
            const Given *given = &work->given;
            wiregauge_pass(given->pass, given->in, given->out, given->first, given->count);
        }
        return SUCCESS;
    case RECORD:
        work->event->recorded = 1;
        return SUCCESS;
    case WAIT:
        if (work->event->recorded)
            return SUCCESS;
        if (!work->event->in || work->event->in == stream) {
            note("deadlock: a wait for an event that nobody records");
            return LAUNCH_TIMEOUT;
        }
        return finish(work->event->in, work->event);
    }
    return INVALID_VALUE;
}

/* Does what waits in the stream; up to where the event is, if one is given. */
static Result finish(Stream *stream, const Event *until) {
    while (stream->first) {
        Work *work = stream->first;
        stream->first = work->next;
        if (!stream->first)
            stream->last = &stream->first;
        const Result result = run(stream, work);
        const int there = until && work->kind == RECORD && work->event == until;
        free(work);
        if (result != SUCCESS || there)
            return result;
    }
    return SUCCESS;
}

/* In which order streams run is CUDA's own affair, but for the events that they wait for. */
static Result finish_last_first(void) {
    Result result = SUCCESS;
    for (int i = streams - 1; i >= 0 && !result; i--)
        result = finish(all_streams[i], NULL);
    return result;
}

EXPORT Result cuStreamCreate(void **handle, unsigned flags) {
    BEGIN;
    /* Others would wait for the default stream, and it for them. */
    if (flags != 1)
        return INVALID_VALUE;
    *handle = streams < STREAMS ? new_stream() : NULL;
    if (!*handle)
        return OUT_OF_MEMORY;
    all_streams[streams++] = *handle;
    return SUCCESS;
}

EXPORT Result cuStreamDestroy_v2(void *handle) {
    BEGIN;
    Stream *stream = handle;
    const Result result = finish(stream, NULL);
    if (stays.threads && stays.in == stream)
        join_kernel();
    int at = 0;
    while (all_streams[at] != stream)
        at++;
    streams--;
    memmove(&all_streams[at], &all_streams[at + 1], (size_t)(streams - at) * sizeof *all_streams);
    free(stream);
    return result;
}

EXPORT Result cuStreamSynchronize(void *handle) {
    BEGIN;
    Stream *stream = stream_of(handle);
    if (stays.threads && stays.in == stream)
        join_kernel();
    if (getenv("STANDIN_LAST_FIRST")) {
        const Result result = finish_last_first();
        if (result)
            return result;
    }
    return finish(stream, NULL);
}

EXPORT Result cuStreamQuery(void *handle) {
    BEGIN;
    Stream *stream = stream_of(handle);
    if (stays.threads && stays.in == stream) {
        if (kernel_runs())
            return NOT_READY;
        join_kernel();
    }
    return finish(stream, NULL);
}

EXPORT Result cuEventCreate(void **handle, unsigned flags) {
    BEGIN;
    (void)flags;
    *handle = calloc(1, sizeof(Event));
    return *handle ? SUCCESS : OUT_OF_MEMORY;
}

EXPORT Result cuEventDestroy_v2(void *handle) {
    BEGIN;
    free(handle);
    return SUCCESS;
}

EXPORT Result cuEventRecord(void *handle, void *stream) {
    BEGIN;
    Event *event = handle;
    event->recorded = 0;
    event->in = stream_of(stream);
    return put(stream, &(Work){.kind = RECORD, .event = event});
}

EXPORT Result cuStreamWaitEvent(void *stream, void *handle, unsigned flags) {
    BEGIN;
    (void)flags;
    Event *event = handle;
    /* One that was never recorded is not waited for: that is a slip of the caller's here. */
    if (!event->in)
        note("slip: a wait for an event that was never recorded");
    return put(stream, &(Work){.kind = WAIT, .event = event});
}

/* Stricter than CUDA, which copies from any memory, only slower: asynchronous copies are of known memory. */
static Result copy(void *stream, void *to, const void *from, size_t bytes, int back, int strict) {
    const void *device = back ? from : to, *host = back ? to : from;
    if (!bytes || !is_known(device, bytes, DEVICE_MEMORY))
        return INVALID_VALUE;
    if (strict && !is_known(host, bytes, REGISTERED) && !is_known(host, bytes, HOST_MEMORY)) {
        note("slip: an asynchronous copy of memory that was not registered");
        return INVALID_VALUE;
    }
    return put(stream, &(Work){.kind = COPY, .to = to, .from = from, .bytes = bytes, .back = back});
}

static void *pointer(Address at) { return (void *)(uintptr_t)at; }

EXPORT Result cuMemcpyHtoD_v2(Address to, const void *from, size_t bytes) {
    BEGIN;
    const Result result = copy(NULL, pointer(to), from, bytes, 0, 0);
    return result ? result : finish(stream_of(NULL), NULL);
}

EXPORT Result cuMemcpyDtoH_v2(void *to, Address from, size_t bytes) {
    BEGIN;
    const Result result = copy(NULL, to, pointer(from), bytes, 1, 0);
    return result ? result : finish(stream_of(NULL), NULL);
}

EXPORT Result cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, void *stream) {
    BEGIN;
    return copy(stream, pointer(to), from, bytes, 0, 1);
}

EXPORT Result cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, void *stream) {
    BEGIN;
    return copy(stream, to, pointer(from), bytes, 1, 1);
}

EXPORT Result cuMemsetD8Async(Address to, unsigned char value, size_t bytes, void *stream) {
    BEGIN;
    if (value || !is_known(pointer(to), bytes, DEVICE_MEMORY))
        return INVALID_VALUE;
    return put(stream, &(Work){.kind = CLEAR, .to = pointer(to), .bytes = bytes});
}

EXPORT Result cuModuleLoadDataEx(void **module, const void *text, unsigned count, const int *options,
                                 void **values) {
    Result code;
    if (fails(__func__, &code)) {
        for (unsigned i = 0; i < count; i++)
            if (options[i] == 5)
                strcpy(values[i], "ptxas error : the stand-in takes no kernels today");
        return code;
    }
    if (!strstr(text, "\n.target sm_50") || !strstr(text, "\n.address_size 64"))
        return INVALID_PTX;
    image = malloc(strlen(text) + 1);
    if (!image)
        return OUT_OF_MEMORY;
    strcpy(image, text);
    *module = image;
    return SUCCESS;
}

EXPORT Result cuModuleUnload(void *module) {
    BEGIN;
    NOT_UNDER_A_KERNEL;
    free(module);
    image = NULL;
    return SUCCESS;
}

EXPORT Result cuModuleGetFunction(void **function, void *module, const char *name) {
    BEGIN;
    char entry[128];
    snprintf(entry, sizeof entry, ".visible .entry %s(", name);
    if (module != image || !strstr(image, entry))
        return NOT_FOUND;
    const int is_pass = !strcmp(name, "wiregauge_pass");
    *function = is_pass ? &pass_function : &persist_function;
    return SUCCESS;
}

static Given given_by(void **parameters) {
    Given given;
    memcpy(&given.pass, parameters[0], sizeof given.pass);
    memcpy(&given.in, parameters[1], sizeof given.in);
    memcpy(&given.out, parameters[2], sizeof given.out);
    memcpy(&given.first, parameters[3], sizeof given.first);
    memcpy(&given.count, parameters[4], sizeof given.count);
    return given;
}

EXPORT Result cuLaunchKernel(void *handle, unsigned blocks, unsigned y, unsigned z, unsigned threads,
                             unsigned ty, unsigned tz, unsigned shared, void *stream, void **parameters,
                             void **extra) {
    BEGIN;
    const Function *function = handle;
    if (function->which != PASS || extra || shared || y != 1 || z != 1 || ty != 1 || tz != 1 || !blocks ||
        !threads || threads > THREADS_MOST)
        return INVALID_VALUE;
    const Work work = {.kind = LAUNCH, .given = given_by(parameters), .blocks = blocks, .threads = threads};
    return put(stream, &work);
}

static void *stay(void *mine) {
    place = *(Place *)mine;
    wiregauge_persist(stays.mail, stays.state, stays.passes, stays.passes_count, stays.ring_in, stays.ring_out,
                      stays.patience_ns);
    __sync_fetch_and_add(&stays.ended, 1);
    return NULL;
}

EXPORT Result cuLaunchCooperativeKernel(void *handle, unsigned blocks, unsigned y, unsigned z,
                                        unsigned threads, unsigned ty, unsigned tz, unsigned shared,
                                        void *stream, void **parameters) {
    BEGIN;
    NOT_UNDER_A_KERNEL;
    const Function *function = handle;
    if (function->which != PERSIST || shared || y != 1 || z != 1 || ty != 1 || tz != 1 || !threads ||
        threads > THREADS_MOST)
        return INVALID_VALUE;
    if (blocks > MULTIPROCESSORS)
        return COOPERATIVE_TOO_LARGE;
    const Result before = finish(stream_of(stream), NULL);
    if (before)
        return before;
    memcpy(&stays.mail, parameters[0], sizeof stays.mail);
    memcpy(&stays.state, parameters[1], sizeof stays.state);
    memcpy(&stays.passes, parameters[2], sizeof stays.passes);
    memcpy(&stays.passes_count, parameters[3], sizeof stays.passes_count);
    memcpy(&stays.ring_in, parameters[4], sizeof stays.ring_in);
    memcpy(&stays.ring_out, parameters[5], sizeof stays.ring_out);
    memcpy(&stays.patience_ns, parameters[6], sizeof stays.patience_ns);
    if (!is_known(stays.mail, sizeof *stays.mail, HOST_MEMORY) ||
        !is_known(stays.state, sizeof *stays.state, DEVICE_MEMORY) ||
        !is_known(stays.passes, 2 * stays.passes_count * sizeof *stays.passes, DEVICE_MEMORY) ||
        !is_known(stays.ring_in, 1, REGISTERED) || !is_known(stays.ring_out, 1, REGISTERED))
        return ILLEGAL_ADDRESS;
    const char *rate = getenv("STANDIN_CLOCK");
    clock_rate = rate ? (u64)atoll(rate) : 1;
    stays.in = stream_of(stream);
    stays.ended = 0;
    note("the kernel that stays runs");
    for (unsigned block = 0; block < blocks; block++)
        pthread_barrier_init(&stays.of_block[block], NULL, threads);
    for (unsigned at = 0; at < blocks * threads; at++) {
        pthread_barrier_t *of_block = &stays.of_block[at / threads];
        stays.place[at] = (Place){at % threads, threads, at / threads, blocks, of_block};
        if (pthread_create(&stays.thread[at], NULL, stay, &stays.place[at]))
            abort();
    }
    stays.threads = (int)(blocks * threads);
    return SUCCESS;
}

/* As cuda.h has them. */
typedef struct {
    size_t src_x, src_y, src_z, src_lod;
    int src_type;
    const void *src_host;
    Address src_device;
    void *src_array, *reserved0;
    size_t src_pitch, src_height;
    size_t dst_x, dst_y, dst_z, dst_lod;
    int dst_type;
    void *dst_host;
    Address dst_device;
    void *dst_array, *reserved1;
    size_t dst_pitch, dst_height;
    size_t width, height, depth;
} Copy3D;

typedef struct {
    void *function;
    unsigned blocks, y, z, threads, ty, tz, shared;
    void **parameters, **extra;
    void *kernel, *context;
} KernelNode;

enum { NODES = 64, HOST_TYPE = 1, DEVICE_TYPE = 2 };

typedef struct {
    int count;
    Work nodes[NODES];
} Graph;

/* A node is its number, from 1, so that it is the same in what was made of its graph. */
static Result add_node(uintptr_t *node, Graph *graph, const uintptr_t *behind, size_t count, Work work) {
    for (size_t i = 0; i < count; i++)
        if (!behind[i] || behind[i] > (uintptr_t)graph->count)
            return INVALID_HANDLE;
    /* Here nodes run in the order in which they were added: each must be behind the one before. */
    if (graph->count == NODES || (graph->count && (count != 1 || behind[0] != (uintptr_t)graph->count)))
        return INVALID_VALUE;
    graph->nodes[graph->count++] = work;
    *node = (uintptr_t)graph->count;
    return SUCCESS;
}

static Result described(const Copy3D *copy, Work *work) {
    const int back = copy->dst_type == HOST_TYPE;
    const int types = back ? copy->src_type == DEVICE_TYPE
                           : copy->src_type == HOST_TYPE && copy->dst_type == DEVICE_TYPE;
    if (!types || copy->height != 1 || copy->depth != 1 || !copy->width || copy->src_pitch < copy->width ||
        copy->dst_pitch < copy->width)
        return INVALID_VALUE;
    const void *host = back ? copy->dst_host : copy->src_host;
    const Address device = back ? copy->src_device : copy->dst_device;
    if (!is_known(pointer(device), copy->width, DEVICE_MEMORY))
        return INVALID_VALUE;
    if (!is_known(host, copy->width, REGISTERED)) {
        note("slip: a graph's copy of memory that was not registered");
        return INVALID_VALUE;
    }
    *work = (Work){.kind = COPY, .bytes = copy->width, .back = back};
    work->to = back ? copy->dst_host : pointer(device);
    work->from = back ? pointer(device) : copy->src_host;
    return SUCCESS;
}

EXPORT Result cuGraphCreate(void **graph, unsigned flags) {
    BEGIN;
    (void)flags;
    *graph = calloc(1, sizeof(Graph));
    return *graph ? SUCCESS : OUT_OF_MEMORY;
}

EXPORT Result cuGraphAddMemcpyNode(uintptr_t *node, void *graph, const uintptr_t *behind, size_t count,
                                   const Copy3D *copy, void *context) {
    BEGIN;
    Work work;
    const Result result = context ? described(copy, &work) : INVALID_CONTEXT;
    return result ? result : add_node(node, graph, behind, count, work);
}

EXPORT Result cuGraphAddKernelNode_v2(uintptr_t *node, void *graph, const uintptr_t *behind, size_t count,
                                      const KernelNode *kernel) {
    BEGIN;
    if (kernel->function != &pass_function || kernel->extra || kernel->threads > THREADS_MOST)
        return INVALID_VALUE;
    Work work = {.kind = LAUNCH, .blocks = kernel->blocks, .threads = kernel->threads};
    work.given = given_by(kernel->parameters);
    return add_node(node, graph, behind, count, work);
}

EXPORT Result cuGraphInstantiateWithFlags(void **ready, void *graph, unsigned long long flags) {
    BEGIN;
    (void)flags;
    *ready = malloc(sizeof(Graph));
    if (!*ready)
        return OUT_OF_MEMORY;
    memcpy(*ready, graph, sizeof(Graph));
    return SUCCESS;
}

EXPORT Result cuGraphExecMemcpyNodeSetParams(void *ready, uintptr_t node, const Copy3D *copy, void *context) {
    BEGIN;
    Graph *graph = ready;
    Work work;
    if (!node || node > (uintptr_t)graph->count || graph->nodes[node - 1].kind != COPY || !context)
        return INVALID_VALUE;
    const Result result = described(copy, &work);
    if (result)
        return result;
    /* CUDA does not let a node change its direction. */
    if (work.back != graph->nodes[node - 1].back)
        return INVALID_VALUE;
    graph->nodes[node - 1] = work;
    return SUCCESS;
}

EXPORT Result cuGraphLaunch(void *ready, void *stream) {
    BEGIN;
    const Graph *graph = ready;
    Result result = SUCCESS;
    for (int i = 0; i < graph->count && !result; i++)
        result = put(stream, &graph->nodes[i]);
    return result;
}

EXPORT Result cuGraphExecDestroy(void *ready) {
    BEGIN;
    free(ready);
    return SUCCESS;
}

EXPORT Result cuGraphDestroy(void *graph) {
    BEGIN;
    free(graph);
    return SUCCESS;
}
