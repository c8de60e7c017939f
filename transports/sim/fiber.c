/*
 * Switches by swapping the stack pointer and the registers that the ABI preserves across calls; on
 * other machines than x86-64 with ucontext. Address sanitizer is notified of each switch. A stack
 * has an inaccessible page below.
 */
#include "sim/fiber.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define SIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIM_ASAN 1
#endif
#endif
#ifdef SIM_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#define SIM_POOL_MAX 512

struct sim_fiber {
    char *map; /* guard page, then the stack */
    size_t map_size, stack_size;
    void (*entry)(void *arg);
    void *arg;
    sim_fiber_t *next_free;
    const void *back_stack; /* stack of the scheduler, for the sanitizer */
    size_t back_size;
    void *fake;
#if defined(__x86_64__)
    void *sp, *back_sp;
#else
    ucontext_t context, back;
#endif
};

/* stacks pooled for later runs; process-wide, like memory */
static struct {
    sim_fiber_t *head;
    unsigned count;
} sim_fiber_pool;

#if defined(__x86_64__)
void sim_fiber_swap(void **save_sp, void *load_sp);
__asm__(".text\n"
        ".globl sim_fiber_swap\n"
        ".hidden sim_fiber_swap\n"
        ".type sim_fiber_swap, @function\n"
        "sim_fiber_swap:\n"
        "  pushq %rbp\n"
        "  pushq %rbx\n"
        "  pushq %r12\n"
        "  pushq %r13\n"
        "  pushq %r14\n"
        "  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n"
        "  popq %r14\n"
        "  popq %r13\n"
        "  popq %r12\n"
        "  popq %rbx\n"
        "  popq %rbp\n"
        "  ret\n"
        ".size sim_fiber_swap, .-sim_fiber_swap\n");
#endif

static void sim_fiber_to_scheduler(sim_fiber_t *fiber, int is_last)
{
#ifdef SIM_ASAN
    __sanitizer_start_switch_fiber(is_last ? NULL : &fiber->fake, fiber->back_stack, fiber->back_size);
#endif
#if defined(__x86_64__)
    sim_fiber_swap(&fiber->sp, fiber->back_sp);
#else
    swapcontext(&fiber->context, &fiber->back);
#endif
#ifdef SIM_ASAN
    __sanitizer_finish_switch_fiber(fiber->fake, &fiber->back_stack, &fiber->back_size);
#endif
}

static sim_fiber_t *sim_fiber_starting; /* argument of the trampoline, which takes none */

static void sim_fiber_main(void)
{
    sim_fiber_t *fiber = sim_fiber_starting;

#ifdef SIM_ASAN
    __sanitizer_finish_switch_fiber(NULL, &fiber->back_stack, &fiber->back_size);
#endif
    fiber->entry(fiber->arg);
    sim_fiber_exit(fiber);
}

static void sim_fiber_prepare(sim_fiber_t *fiber)
{
    char *stack = fiber->map + (fiber->map_size - fiber->stack_size);
#if defined(__x86_64__)
    void **top = (void **)(stack + fiber->stack_size) - 8;

    /* six registers, then the return address; at entry the stack is 8 off a multiple of 16, as
     * after a call */
    for (unsigned i = 0; i < 8; ++i) {
        top[i] = NULL;
    }
    *(void (**)(void)) & top[6] = sim_fiber_main;
    fiber->sp = top;
#else
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = stack;
    fiber->context.uc_stack.ss_size = fiber->stack_size;
    fiber->context.uc_link = NULL;
    makecontext(&fiber->context, sim_fiber_main, 0);
#endif
#ifdef SIM_ASAN
    __asan_unpoison_memory_region(stack, fiber->stack_size);
#endif
    (void)stack;
    fiber->fake = NULL;
}

static sim_fiber_t *sim_fiber_map(size_t stack_size)
{
    const size_t page = sysconf(_SC_PAGESIZE);
    sim_fiber_t *fiber = calloc(1, sizeof(*fiber));

    if (fiber == NULL) {
        return NULL;
    }
    fiber->stack_size = (stack_size + page - 1) & ~(page - 1);
    fiber->map_size = fiber->stack_size + page;
    fiber->map = mmap(NULL, fiber->map_size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (fiber->map == MAP_FAILED) {
        free(fiber);
        return NULL;
    }
    mprotect(fiber->map, page, PROT_NONE);
    return fiber;
}

static void sim_fiber_unmap(sim_fiber_t *fiber)
{
    munmap(fiber->map, fiber->map_size);
    free(fiber);
}

sim_fiber_t *sim_fiber_create(size_t stack_size, void (*entry)(void *arg), void *arg)
{
    sim_fiber_t *fiber = sim_fiber_pool.head;

    if ((fiber != NULL) && (fiber->stack_size >= stack_size)) {
        sim_fiber_pool.head = fiber->next_free;
        --sim_fiber_pool.count;
    } else {
        fiber = sim_fiber_map(stack_size);
        if (fiber == NULL) {
            return NULL;
        }
    }
    fiber->entry = entry;
    fiber->arg = arg;
    sim_fiber_prepare(fiber);
    return fiber;
}

void sim_fiber_destroy(sim_fiber_t *fiber)
{
    if (sim_fiber_pool.count >= SIM_POOL_MAX) {
        sim_fiber_unmap(fiber);
        return;
    }
    fiber->next_free = sim_fiber_pool.head;
    sim_fiber_pool.head = fiber;
    ++sim_fiber_pool.count;
}

void sim_fiber_resume(sim_fiber_t *fiber)
{
#ifdef SIM_ASAN
    void *fake = NULL;

    __sanitizer_start_switch_fiber(&fake, fiber->map + (fiber->map_size - fiber->stack_size), fiber->stack_size);
#endif
    sim_fiber_starting = fiber;
#if defined(__x86_64__)
    sim_fiber_swap(&fiber->back_sp, fiber->sp);
#else
    swapcontext(&fiber->back, &fiber->context);
#endif
#ifdef SIM_ASAN
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
}

void sim_fiber_suspend(sim_fiber_t *fiber)
{
    sim_fiber_to_scheduler(fiber, 0);
}

void sim_fiber_exit(sim_fiber_t *fiber)
{
    sim_fiber_to_scheduler(fiber, 1);
    abort(); /* an ended fiber is never resumed */
}
