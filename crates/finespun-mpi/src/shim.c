/* The calls of MPI that Finespun uses, with C types that Rust knows. One source for MPICH 4 and Open MPI 4.
 *
 * Each function returns MPI_SUCCESS (0) or an MPI error code, of which fsp_error makes a text.
 * Communicators and windows stay here: `world` has all processes, `host` those that can share memory with this one. */

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define WINDOWS 16
#define BURST 256

static MPI_Comm world = MPI_COMM_NULL, host = MPI_COMM_NULL;
static MPI_Win windows[WINDOWS];
static int opened;

#define TRY(call)                         \
    do {                                  \
        int code_ = (call);               \
        if (code_ != MPI_SUCCESS)         \
            return code_;                 \
    } while (0)

/* For operations that leave others under way when they fail, which still use the caller's memory. */
#define MUST(call)                                \
    do {                                          \
        int code_ = (call);                       \
        if (code_ != MPI_SUCCESS)                 \
            MPI_Abort(MPI_COMM_WORLD, 1);         \
    } while (0)

/* May be called before fsp_start. `text` has room for MPI_MAX_LIBRARY_VERSION_STRING (at most 8192) characters. */
int fsp_library(char *text, int *length)
{
    return MPI_Get_library_version(text, length);
}

/* `threads` is set if any thread may call MPI at any time. */
int fsp_start(int *threads)
{
    int provided = MPI_THREAD_SINGLE;
    TRY(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    *threads = provided == MPI_THREAD_MULTIPLE;
    TRY(MPI_Comm_dup(MPI_COMM_WORLD, &world));
    TRY(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
    TRY(MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
    return MPI_Comm_set_errhandler(host, MPI_ERRORS_RETURN);
}

int fsp_places(int *rank, int *size, int *host_rank, int *host_size)
{
    TRY(MPI_Comm_rank(world, rank));
    TRY(MPI_Comm_size(world, size));
    TRY(MPI_Comm_rank(host, host_rank));
    return MPI_Comm_size(host, host_size);
}

/* `text` has room for MPI_MAX_ERROR_STRING (at most 1024) characters. */
int fsp_error(int code, char *text, int *length)
{
    return MPI_Error_string(code, text, length);
}

int fsp_barrier(void)
{
    return MPI_Barrier(world);
}

int fsp_gather_all(uint64_t own, uint64_t *all)
{
    return MPI_Allgather(&own, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, world);
}

int fsp_send(const void *bytes, int length, int to, int tag)
{
    return MPI_Send(bytes, length, MPI_BYTE, to, tag, world);
}

int fsp_receive(void *bytes, int room, int from, int tag, int *length)
{
    MPI_Status status;
    TRY(MPI_Recv(bytes, room, MPI_BYTE, from, tag, world, &status));
    return MPI_Get_count(&status, MPI_BYTE, length);
}

/* Finds the errors of a burst before any of its messages is under way. */
static int check_burst(int count, int peer)
{
    int size;
    TRY(MPI_Comm_size(world, &size));
    if (count < 0 || count > BURST)
        return MPI_ERR_COUNT;
    return peer < 0 || peer >= size ? MPI_ERR_RANK : MPI_SUCCESS;
}

/* Sends `count` messages of `length` bytes from the same place, all of which may be under way at the same time. */
int fsp_send_burst(const void *bytes, int length, int count, int to, int tag)
{
    MPI_Request requests[BURST];
    MPI_Status states[BURST];
    TRY(check_burst(count, to));
    for (int i = 0; i < count; i++)
        MUST(MPI_Isend(bytes, length, MPI_BYTE, to, tag, world, &requests[i]));
    MUST(MPI_Waitall(count, requests, states));
    return MPI_SUCCESS;
}

/* Receives `count` messages of `length` bytes each, one behind the other in `bytes`. */
int fsp_receive_burst(void *bytes, int length, int count, int from, int tag)
{
    MPI_Request requests[BURST];
    MPI_Status states[BURST];
    TRY(check_burst(count, from));
    for (int i = 0; i < count; i++)
        MUST(MPI_Irecv((char *)bytes + (size_t)i * length, length, MPI_BYTE, from, tag, world, &requests[i]));
    MUST(MPI_Waitall(count, requests, states));
    return MPI_SUCCESS;
}

int fsp_broadcast(void *bytes, int length, int from)
{
    return MPI_Bcast(bytes, length, MPI_BYTE, from, world);
}

/* MPI's handles of operations under way, in words. */
_Static_assert(sizeof(MPI_Request) <= 8 && sizeof(MPI_Message) <= 8, "a handle is larger than a word");

/* Begins to send. The bytes stay where they are until fsp_test says that it is done. */
int fsp_begin_send(const void *bytes, int length, int to, int tag, uint64_t *under_way)
{
    MPI_Request request;
    TRY(MPI_Isend(bytes, length, MPI_BYTE, to, tag, world, &request));
    *under_way = 0;
    memcpy(under_way, &request, sizeof request);
    return MPI_SUCCESS;
}

/* Begins to receive a message of at most `room` bytes, of any process. */
int fsp_begin_receive(void *bytes, int room, int tag, uint64_t *under_way)
{
    MPI_Request request;
    TRY(MPI_Irecv(bytes, room, MPI_BYTE, MPI_ANY_SOURCE, tag, world, &request));
    *under_way = 0;
    memcpy(under_way, &request, sizeof request);
    return MPI_SUCCESS;
}

/* Looks for a message of a process with this tag: its length, if there is one. */
int fsp_find(int from, int tag, int *found, int *length, uint64_t *message)
{
    MPI_Message handle;
    MPI_Status status;
    TRY(MPI_Improbe(from, tag, world, found, &handle, &status));
    if (!*found)
        return MPI_SUCCESS;
    *message = 0;
    memcpy(message, &handle, sizeof handle);
    return MPI_Get_count(&status, MPI_BYTE, length);
}

/* Begins to receive a message that has been found. */
int fsp_begin_found(void *bytes, int length, uint64_t message, uint64_t *under_way)
{
    MPI_Message handle;
    MPI_Request request;
    memcpy(&handle, &message, sizeof handle);
    TRY(MPI_Imrecv(bytes, length, MPI_BYTE, &handle, &request));
    *under_way = 0;
    memcpy(under_way, &request, sizeof request);
    return MPI_SUCCESS;
}

/* Looks whether an operation is done, whose handle is not used after that. If it has received a message: the sender, and the
 * length. */
int fsp_test(uint64_t *under_way, int receives, int *done, int *from, int *length)
{
    MPI_Request request;
    MPI_Status status;
    memcpy(&request, under_way, sizeof request);
    int code = MPI_Test(&request, done, &status);
    memcpy(under_way, &request, sizeof request);
    if (code != MPI_SUCCESS || !*done || !receives)
        return code;
    *from = status.MPI_SOURCE;
    return MPI_Get_count(&status, MPI_BYTE, length);
}

/* Takes back a receive. If it is not done then, a message is arriving, whose sender may never send the rest. */
int fsp_take_back(uint64_t under_way, int *done)
{
    MPI_Request request;
    memcpy(&request, &under_way, sizeof request);
    TRY(MPI_Cancel(&request));
    for (int i = 0; i < 100; i++) {
        TRY(MPI_Test(&request, done, MPI_STATUS_IGNORE));
        if (*done)
            break;
    }
    return MPI_SUCCESS;
}

/* Receives all messages that have arrived and that nobody has found. */
int fsp_discard(void)
{
    MPI_Message handle;
    MPI_Status status;
    int found, length;
    for (;;) {
        TRY(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &found, &handle, &status));
        if (!found)
            return MPI_SUCCESS;
        TRY(MPI_Get_count(&status, MPI_BYTE, &length));
        void *bytes = malloc(length > 0 ? length : 1);
        if (bytes == NULL)
            return MPI_ERR_NO_MEM;
        int code = MPI_Mrecv(bytes, length, MPI_BYTE, &handle, MPI_STATUS_IGNORE);
        free(bytes);
        TRY(code);
    }
}

/* Memory shared by the processes of this host, all of it allocated by the first of them. */
int fsp_share(uint64_t bytes, void **memory)
{
    int rank, unit;
    MPI_Aint size;
    void *own;
    if (opened == WINDOWS)
        return MPI_ERR_WIN;
    TRY(MPI_Comm_rank(host, &rank));
    TRY(MPI_Win_allocate_shared(rank == 0 ? (MPI_Aint)bytes : 0, 1, MPI_INFO_NULL, host, &own, &windows[opened]));
    TRY(MPI_Win_set_errhandler(windows[opened], MPI_ERRORS_RETURN));
    TRY(MPI_Win_lock_all(MPI_MODE_NOCHECK, windows[opened]));
    TRY(MPI_Win_shared_query(windows[opened], 0, &size, &unit, memory));
    opened++;
    return MPI_Barrier(host);
}

/* A window of `words` words at each process, open to all until the end. */
int fsp_open(uint64_t words, int *window, void **memory)
{
    if (opened == WINDOWS)
        return MPI_ERR_WIN;
    TRY(MPI_Win_allocate((MPI_Aint)(words * 8), 8, MPI_INFO_NULL, world, memory, &windows[opened]));
    TRY(MPI_Win_set_errhandler(windows[opened], MPI_ERRORS_RETURN));
    TRY(MPI_Win_lock_all(MPI_MODE_NOCHECK, windows[opened]));
    *window = opened++;
    return MPI_Barrier(world);
}

int fsp_swap(int window, int at, uint64_t word, uint64_t new, uint64_t *old)
{
    TRY(MPI_Fetch_and_op(&new, old, MPI_UINT64_T, at, (MPI_Aint)word, MPI_REPLACE, windows[window]));
    return MPI_Win_flush(at, windows[window]);
}

int fsp_put(int window, int at, uint64_t word, const uint64_t *words, int count)
{
    TRY(MPI_Put(words, count, MPI_UINT64_T, at, (MPI_Aint)word, count, MPI_UINT64_T, windows[window]));
    return MPI_Win_flush(at, windows[window]);
}

int fsp_get(int window, int at, uint64_t word, uint64_t *words, int count)
{
    TRY(MPI_Get(words, count, MPI_UINT64_T, at, (MPI_Aint)word, count, MPI_UINT64_T, windows[window]));
    return MPI_Win_flush(at, windows[window]);
}

/* Lets the library make progress: an MPI without a thread of its own serves remote operations only during calls. */
int fsp_poll(void)
{
    int flag;
    return MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &flag, MPI_STATUS_IGNORE);
}

int fsp_finish(void)
{
    while (opened > 0) {
        opened--;
        TRY(MPI_Win_unlock_all(windows[opened]));
        TRY(MPI_Win_free(&windows[opened]));
    }
    TRY(MPI_Comm_free(&host));
    TRY(MPI_Comm_free(&world));
    return MPI_Finalize();
}

int fsp_abort(int code)
{
    return MPI_Abort(MPI_COMM_WORLD, code);
}
