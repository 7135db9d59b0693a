/* A whole board in under 100 lines: the protocol over UART0 of an LM3S6965 (Cortex-M3). docs/porting.md goes through it
 * step by step. Addresses and bits: LM3S6965 data sheet. */
#include "wg_responder.h"

#define REG(address) (*(volatile uint32_t *)(address))

/* 1. Device description, sent in HELLO. */
static uint64_t ticks(void);
static uint8_t message[512];
static const wg_device device = {
    .name = "porting, LM3S6965",
    .max_out = 1u << 20,
    .max_in = 1u << 20,
    .tick_hz = 50000000,
    .tick_bits = 56,
    .ticks = ticks,
    .message = message,
    .message_room = sizeof message,
};

/* 2. A clock: SysTick counts down 24 bits, its interrupt counts how often. */
static volatile uint32_t wraps;
static void systick(void) { wraps++; }

/* Called from the main program and from the UART's interrupt, which SysTick's may interrupt. */
static uint64_t ticks(void) {
    uint32_t before, left;
    do {
        before = wraps;
        left = REG(0xE000E018);
    } while (before != wraps || (REG(0xE000ED04) & 1u << 26) != 0); /* a wrap that is not counted yet: ICSR PENDSTSET */
    return (uint64_t)before << 24 | (0xFFFFFF - left);
}

/* 3. Store received bytes in a ring, with the time. */
static volatile uint8_t ring[1024];
static volatile uint32_t put, taken;
static volatile uint64_t came;

static void uart(void) {
    while (!(REG(0x4000C018) & 0x10) && put - taken < sizeof ring) { /* UARTFR RXFE: empty */
        ring[put++ % sizeof ring] = (uint8_t)REG(0x4000C000);
    }
    came = ticks();
    if (put - taken == sizeof ring) {
        REG(0x4000C038) = 0; /* ring full: the main loop enables the interrupt again */
    }
}

/* 4. Set-up and main loop: send while the interrupt receives. */
int main(void) {
    static wg_responder responder;
    static uint8_t to_send[64];
    REG(0x400FE060) = (REG(0x400FE060) & ~0x7C03FF1u) | 0x1C00B80; /* RCC: 8 MHz crystal, PLL / 4, still bypassed */
    while (!(REG(0x400FE050) & 1u << 6)) {}                        /* RIS PLLLRIS: locked */
    REG(0x400FE060) &= ~(1u << 11);                                /* RCC BYPASS off: 50 MHz */
    REG(0xE000E014) = 0xFFFFFF, REG(0xE000E018) = 0, REG(0xE000E010) = 7; /* SysTick: all 24 bits, with interrupt */
    REG(0xE000E404) = 0x80u << 8;                      /* priority of IRQ 5 (UART0) below SysTick's */
    REG(0x400FE104) |= 1, REG(0x400FE108) |= 1;        /* RCGC: UART0, port A */
    REG(0x40004420) |= 3, REG(0x4000451C) |= 3;        /* pins A0, A1: UART0, digital */
    REG(0x4000C024) = 27, REG(0x4000C028) = 8;         /* 115,200 baud of 50 MHz */
    REG(0x4000C02C) = 0x70, REG(0x4000C030) = 0x301;   /* 8N1, FIFOs; on */
    REG(0x4000C038) = 0x50, REG(0xE000E100) = 1u << 5; /* receive and receive-timeout interrupts */
    wg_begin(&responder, &device);
    for (;;) {
        uint32_t at = taken % sizeof ring, there = put - taken;
        size_t n = there < sizeof ring - at ? there : sizeof ring - at;
        uint64_t when;
        do {
            when = came; /* two words: again, if an interrupt came between them */
        } while (when != came);
        taken += wg_take(&responder, (const uint8_t *)ring + at, n, when);
        REG(0x4000C038) = 0x50;
        n = wg_give(&responder, to_send, sizeof to_send);
        for (at = 0; at < n; at++) {
            while (REG(0x4000C018) & 0x20) {} /* UARTFR TXFF: full */
            REG(0x4000C000) = to_send[at];
        }
        __asm volatile("cpsid i"); /* no interrupt between looking and sleeping; one that comes wakes it */
        if (put == taken && n == 0) {
            __asm volatile("wfi");
        }
        __asm volatile("cpsie i");
    }
}

/* 5. Where the processor begins. */
extern uint32_t data_in_flash[], data_begin[], data_end[], bss_begin[], bss_end[], stack_end[];

void reset(void) {
    for (uint32_t *from = data_in_flash, *to = data_begin; to < data_end;) *to++ = *from++;
    for (uint32_t *to = bss_begin; to < bss_end;) *to++ = 0;
    main();
}

__attribute__((section(".vectors"), used)) static void (*const vectors[16 + 6])(void) = {
    [0] = (void (*)(void))stack_end, [1] = reset, [15] = systick, [16 + 5] = uart};
