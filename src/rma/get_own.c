/*
 * Gets from own memory (protocol/determinants.md).
 *
 * In a program that waits, only the owner observes the order in which other ranks put to its
 * memory, and a replacement has only the puts that its waits and determinants needed so far. A get
 * is therefore a determinant in each phase that began with all ranks knowing that the program
 * waits, and in each phase after a wait of the owner. In other phases a get is a copy: only gsyncs
 * order accesses there, so a program without races reads memory without concurrent puts. A
 * replacement detects a program that polls before its first wait: the poll reads memory with puts
 * in the same phase.
 */
#include "rma/get_own.h"

#include "order/compare.h"
#include "order/flush.h"
#include "order/mix.h"
#include "order/determinant.h"
#include "window/window.h"
#include "check/plant.h"
#include "recovery/rollback_request.h"

#include <string.h>

#define OWN_WORDS 256u /* words of a determinant */

static size_t word_size(const char *at, size_t left)
{
    size_t size = 8;

    while (size > left || (uintptr_t)at % size != 0) {
        size /= 2;
    }
    return size;
}

static unsigned words_most(const keel_context_h ctx)
{
    unsigned most = OWN_WORDS;

    while (most > 1 && keel_result_length(most) > ctx->gets.record_max) {
        most /= 2;
    }
    return most;
}

/* Words that are loaded by one instruction. Processors load either half of an aligned block as a
 * whole. */
typedef uint64_t load_block_t __attribute__((vector_size(16), may_alias));
typedef uint64_t load_copy_t __attribute__((vector_size(16), aligned(1), may_alias));

enum { LOAD_BLOCKS = 4 /* of a step */, LOAD_STRING = 1024 /* bytes */ };

#if defined(__x86_64__)
#define LOAD_HAS_STRING 1
/* Many words by one instruction, which loads each word whole and is three times as fast as
 * loads one by one. Loads behind the fence are not older than those of the instruction. */
static void load_string(char *to, const char *from, size_t words)
{
    __asm__ volatile("rep movsq\n\tlfence" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
}
#else
#define LOAD_HAS_STRING 0
static void load_string(char *to, const char *from, size_t words)
{
    memcpy(to, from, words * sizeof(uint64_t));
}
#endif

/* Loads whole steps from an aligned place; the words have no order among themselves. The string
 * is for aligned places alone: others may make the processor load across words. Returns the
 * length. */
static size_t load_steps(char *to, const char *from, size_t length)
{
    const size_t step = LOAD_BLOCKS * sizeof(load_block_t);
    size_t done;

    if (LOAD_HAS_STRING && length >= LOAD_STRING && (uintptr_t)to % sizeof(uint64_t) == 0) {
        load_string(to, from, length / sizeof(uint64_t));
        return length / sizeof(uint64_t) * sizeof(uint64_t);
    }
    for (done = 0; length - done >= step; done += step) {
        const volatile load_block_t *block = (const volatile load_block_t *)(const void *)(from + done);
        load_block_t loaded[LOAD_BLOCKS];

        for (size_t i = 0; i < LOAD_BLOCKS; i++) {
            loaded[i] = block[i];
        }
        for (size_t i = 0; i < LOAD_BLOCKS; i++) {
            ((load_copy_t *)(void *)(to + done))[i] = loaded[i];
        }
    }
    return done;
}

void keel_load_words(void *buffer, const char *from, size_t length)
{
    char *to = buffer;
    size_t size;

    for (; length > 0; length -= size, from += size, to += size) {
        size = ((uintptr_t)from % sizeof(load_block_t) == 0) ? load_steps(to, from, length) : 0;
        if (size == 0) {
            uint64_t word;

            size = word_size(from, length);
            word = keel_word_load(from, size);
            memcpy(to, &word, size);
        }
    }
    keel_load_fence();
}

/* contiguous bytes of own memory and their place in the buffer */
typedef struct own_run {
    uint64_t offset;
    char *to;
    size_t left;
} own_run_t;

static own_run_t run_of(const keel_gather_t *gather, size_t i)
{
    const keel_block_t block = keel_gather_block(gather, i);

    return (own_run_t){.offset = block.offset, .to = block.buffer, .left = block.length};
}

/* finds the next non-empty block; returns 0 at the end */
static int run_next(const keel_gather_t *gather, size_t *next_p, own_run_t *run)
{
    for (run->left = 0; run->left == 0 && *next_p < gather->count; (*next_p)++) {
        *run = run_of(gather, *next_p);
    }
    return run->left > 0;
}

keel_status_t keel_get_own_determinants(keel_win_h win, const keel_gather_t *gather)
{
    const unsigned most = words_most(win->ctx);
    keel_word_t words[OWN_WORDS];
    char *to[OWN_WORDS];
    keel_status_t status = KEEL_OK;
    own_run_t run;
    size_t next = 0;
    int is_left = run_next(gather, &next, &run);

    while (is_left && status == KEEL_OK) {
        unsigned count = 0;

        while (is_left && count < most) {
            const size_t size = word_size((const char *)win->base + run.offset, run.left);

            words[count] = (keel_word_t){.win = win, .offset = run.offset, .size = size, .compare = KEEL_COMPARE_LT};
            to[count++] = run.to;
            run = (own_run_t){.offset = run.offset + size, .to = run.to + size, .left = run.left - size};
            is_left = run.left > 0 || run_next(gather, &next, &run);
        }
        /* the comparison is never true: the call makes progress */
        status = keel_test(win->ctx, KEEL_WAIT_ALL, words, count, NULL);
        status = (status == KEEL_INPROGRESS) ? KEEL_OK : status;
        for (unsigned i = 0; i < count && status == KEEL_OK; i++) {
            memcpy(to[i], &words[i].seen, words[i].size);
        }
    }
    return status;
}

static void own_copy(keel_win_h win, const keel_gather_t *gather)
{
    own_run_t run;

    for (size_t next = 0; run_next(gather, &next, &run);) {
        memmove(run.to, (const char *)win->base + run.offset, run.left);
    }
}

keel_status_t keel_get_own(keel_win_h win, const keel_gather_t *gather)
{
    keel_context_h ctx = win->ctx;
    keel_status_t status = KEEL_OK;
    own_run_t run;

    if (keel_sync_may_be_local(&ctx->sync) && keel_waits_have_effect(&ctx->sync) && !KEEL_PLANT(get_own_copied)) {
        return keel_get_own_determinants(win, gather);
    }
    own_copy(win, gather);
    /* the program may loop until other ranks have acted */
    if (!keel_sync_may_be_local(&ctx->sync) || keel_sync_style(&ctx->sync) == KEEL_STYLE_WAITS) {
        status = keel_flush_start_all(ctx);
    }
    for (size_t next = 0; status == KEEL_OK && run_next(gather, &next, &run);) {
        status = keel_waits_are_to_write(&ctx->sync, (const char *)win->base + run.offset, run.left) &&
                         !KEEL_PLANT(get_own_raced)
                     ? keel_rollback_request(&ctx->rec, KEEL_ROLLBACK_CHANGES)
                     : KEEL_OK;
    }
    return status;
}
