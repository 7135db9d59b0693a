/* Start-up, clock and UART of the LM3S6965. Sections are those of its data sheet (DS-LM3S6965-5.8). */
#include "board.h"

#include "entropy.h"

/* System control, section 5 */
#define RCC REG(0x400FE060u)
#define RIS REG(0x400FE050u)
#define RCGC1 REG(0x400FE104u)
#define RCGC2 REG(0x400FE108u)
#define USER_REG0 0x400FE1E0u /* internal memory, section 7 */
#define RCC_BYPASS (1u << 11)
#define RCC_SYSDIV_USED (1u << 22)
#define RCC_SYSDIV(divisor) ((uint32_t)((divisor) - 1) << 23)
#define RCC_XTAL_8MHZ (0xEu << 6)
#define RCC_XTAL_PLL_OSC_MASK 0x37F3u /* crystal, PLL off, output off, oscillators */
#define RIS_PLL_LOCKED (1u << 6)

/* UART0, section 12, on PA0 and PA1 */
#define PORT_A_AFSEL REG(0x40004420u)
#define PORT_A_DEN REG(0x4000451Cu)
#define UART_DR REG(0x4000C000u)
#define UART_FR REG(0x4000C018u)
#define UART_IBRD REG(0x4000C024u)
#define UART_FBRD REG(0x4000C028u)
#define UART_LCRH REG(0x4000C02Cu)
#define UART_CTL REG(0x4000C030u)
#define UART_FR_TXFF (1u << 5)

/* Cortex-M3: SysTick and system control (ARM DDI 0403, B3.2 and B3.3) */
#define SYST_CSR REG(0xE000E010u)
#define SYST_PROCESSOR_CLOCK 4u
#define SYST_INTERRUPT 2u
#define SYST_ON 1u
#define SYST_RVR REG(0xE000E014u)
#define SYST_CVR REG(0xE000E018u)
#define ICSR REG(0xE000ED04u)
#define ICSR_PENDSTSET (1u << 26)
#define AIRCR REG(0xE000ED0Cu)
#define AIRCR_RESET 0x05FA0004u

/* Timer 0, section 10: its interrupt wakes the processor each millisecond and does nothing else */
#define RCGC1_TIMER0 (1u << 16)
#define TIMER_CFG REG(0x40030000u)
#define TIMER_TAMR REG(0x40030004u)
#define TIMER_CTL REG(0x4003000Cu)
#define TIMER_IMR REG(0x40030018u)
#define TIMER_ICR REG(0x40030024u)
#define TIMER_TAILR REG(0x40030028u)
#define TIMER_PERIODIC 2u
#define TIMER_A 1u
#define NVIC_ENABLE_0_31 REG(0xE000E100u)
#define TIMER0A_IRQ 19

#define TICKS_PER_MS (CLOCK_HZ / 1000)

/* SysTick goes round in its full 24 bits, each 336 ms, rather than each millisecond: the fewer times, the fewer
 * readings fall next to one, where an emulator that is late gives a clock that stands still. */
#define SYST_ROUND (1u << 24)

extern uint32_t link_data_load, link_data, link_data_end, link_bss, link_bss_end, link_ram, link_stack;
int main(void);
void nic_interrupt(void);

static volatile uint64_t rounds;

static void reset(void) {
    entropy_begin(&link_ram, &link_stack);
    for (uint32_t *from = &link_data_load, *to = &link_data; to < &link_data_end;) *to++ = *from++;
    for (uint32_t *to = &link_bss; to < &link_bss_end;) *to++ = 0;
    main();
    board_panic("main() ended");
}

static void fault(void) { board_panic("fault"); }

static void systick(void) { rounds++; }

static void wake(void) { TIMER_ICR = TIMER_A; }

__attribute__((section(".vectors"), used)) static void (*const vectors[16 + 44])(void) = {
    [0] = (void (*)(void)) & link_stack,
    [1] = reset,
    [2] = fault,
    [3] = fault,
    [4] = fault,
    [5] = fault,
    [6] = fault,
    [11] = fault,
    [14] = fault,
    [15] = systick,
    [16 + TIMER0A_IRQ] = wake,
    [16 + 42] = nic_interrupt,
};

void board_begin(void) {
    /* 8 MHz crystal, PLL 200 MHz, divided by 4 (section 5.3, "Initialization and Configuration"). */
    RCC = (RCC | RCC_BYPASS) & ~RCC_SYSDIV_USED;
    RCC = (RCC & ~RCC_XTAL_PLL_OSC_MASK) | RCC_XTAL_8MHZ;
    RCC = (RCC & ~RCC_SYSDIV(16)) | RCC_SYSDIV(4) | RCC_SYSDIV_USED;
    for (int tries = 0; tries < 100000 && !(RIS & RIS_PLL_LOCKED); tries++) {}
    RCC &= ~RCC_BYPASS;

    RCGC1 |= RCGC1_TIMER0 | 1u;        /* and UART0 */
    RCGC2 |= 1u << 30 | 1u << 28 | 1u; /* PHY, Ethernet, port A */
    (void)RCGC2;                       /* three cycles before its first use */
    (void)RCGC2;
    PORT_A_AFSEL |= 3u;
    PORT_A_DEN |= 3u;
    UART_IBRD = 27; /* 50 MHz / (16 * 115200) = 27 + 8 / 64 */
    UART_FBRD = 8;
    UART_LCRH = 0x70; /* 8 bits, FIFO */
    UART_CTL = 0x301;

    SYST_CSR = SYST_PROCESSOR_CLOCK;
    SYST_RVR = SYST_ROUND - 1;
    SYST_CVR = 0;
    SYST_CSR = SYST_PROCESSOR_CLOCK | SYST_INTERRUPT | SYST_ON;

    TIMER_CFG = 0; /* 32 bits */
    TIMER_TAMR = TIMER_PERIODIC;
    TIMER_TAILR = TICKS_PER_MS - 1;
    TIMER_IMR = TIMER_A;
    TIMER_CTL = TIMER_A;
    NVIC_ENABLE_0_31 = 1u << TIMER0A_IRQ;
}

uint64_t board_ticks(void) {
    uint32_t were;
    __asm volatile("mrs %0, primask\n\tcpsid i" : "=r"(were) : : "memory");
    uint32_t left = SYST_CVR;
    uint64_t round = rounds;
    if (ICSR & ICSR_PENDSTSET) { /* it went round and nobody has counted it yet */
        left = SYST_CVR;
        round++;
    }
    __asm volatile("msr primask, %0" : : "r"(were) : "memory");
    return round * SYST_ROUND + (SYST_ROUND - 1 - left);
}

uint32_t board_ms(void) {
    static uint32_t ms;
    static uint64_t next = TICKS_PER_MS;
    for (uint64_t now = board_ticks(); now >= next; next += TICKS_PER_MS) ms++; /* cheaper than a division */
    return ms;
}

void board_say(const char *text) {
    for (; *text; text++) {
        while (UART_FR & UART_FR_TXFF) {}
        UART_DR = (uint8_t)*text;
    }
}

void board_panic(const char *why) {
    board_say("panic: ");
    board_say(why);
    board_say("\n");
    AIRCR = AIRCR_RESET;
    for (;;) {}
}

uint32_t board_user_word(int which) { return REG(USER_REG0 + 4 * (uint32_t)which); }
