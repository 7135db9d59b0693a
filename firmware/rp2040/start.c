/* From the first instruction to main(): stack, cleared memory, interrupt vectors. Takes the place of a C library's
 * start files and of a vendor's. */
#include "registers.h"
#include "usb.h"

extern uint32_t bss_begin, bss_end, stack_top;
int main(void);
void start(void);
void entry(void);
static void fault(void);

/* The Cortex-M0+ has 16 exceptions and the RP2040 26 interrupts (2.3.2). */
typedef void (*vector)(void);
__attribute__((section(".vectors"), used)) static const vector vectors[48] = {
    [0] = (vector)&stack_top, [1] = start, [2] = fault, [3] = fault, [16 + USB_IRQ] = usb_interrupt,
};

__attribute__((section(".entry"), naked, used)) void entry(void) {
    __asm volatile("ldr r0, =stack_top\n"
                   "mov sp, r0\n"
                   "ldr r0, =start\n"
                   "bx r0\n"
                   ".ltorg\n");
}

/* A debugger finds it here; the host sees a device that is gone. */
static void fault(void) {
    for (;;) {}
}

void start(void) {
    /* The boot ROM's USB drive has used interrupts; none of them may come to vectors that are not there. */
    REGISTER(NVIC_DISABLE) = 0xFFFFFFFFu;
    REGISTER(NVIC_UNPEND) = 0xFFFFFFFFu;
    REGISTER(VECTOR_TABLE) = (uint32_t)vectors;
    for (uint32_t *word = &bss_begin; word < &bss_end; word++) {
        *word = 0;
    }
    __asm volatile("cpsie i" ::: "memory");
    main();
    fault();
}
