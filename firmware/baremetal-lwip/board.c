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
#define RCC_SYSDIV(divisor) ((uint32_t)((divisor)-1) << 23)
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
#define SYST_RVR REG(0xE000E014u)
#define SYST_CVR REG(0xE000E018u)
#define ICSR REG(0xE000ED04u)
#define ICSR_PENDSTSET (1u << 26)
#define AIRCR REG(0xE000ED0Cu)
#define AIRCR_RESET 0x05FA0004u

#define TICKS_PER_MS (CLOCK_HZ / 1000)

extern uint32_t link_data_load, link_data, link_data_end, link_bss, link_bss_end, link_ram, link_stack;
int main(void);
void nic_interrupt(void);

static volatile uint64_t ms_passed;

static void reset(void) {
    entropy_begin(&link_ram, &link_stack);
    for (uint32_t *from = &link_data_load, *to = &link_data; to < &link_data_end;) *to++ = *from++;
    for (uint32_t *to = &link_bss; to < &link_bss_end;) *to++ = 0;
    main();
    board_panic("main() ended");
}

static void fault(void) { board_panic("fault"); }

static void systick(void) { ms_passed++; }

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
    [16 + 42] = nic_interrupt,
};

void board_begin(void) {
    /* 8 MHz crystal, PLL 200 MHz, divided by 4 (section 5.3, "Initialization and Configuration"). */
    RCC = (RCC | RCC_BYPASS) & ~RCC_SYSDIV_USED;
    RCC = (RCC & ~RCC_XTAL_PLL_OSC_MASK) | RCC_XTAL_8MHZ;
    RCC = (RCC & ~RCC_SYSDIV(16)) | RCC_SYSDIV(4) | RCC_SYSDIV_USED;
    for (int tries = 0; tries < 100000 && !(RIS & RIS_PLL_LOCKED); tries++) {
    }
    RCC &= ~RCC_BYPASS;

    RCGC1 |= 1u;                          /* UART0 */
    RCGC2 |= 1u << 30 | 1u << 28 | 1u;    /* PHY, Ethernet, port A */
    (void)RCGC2;                          /* three cycles before its first use */
    (void)RCGC2;
    PORT_A_AFSEL |= 3u;
    PORT_A_DEN |= 3u;
    UART_IBRD = 27; /* 50 MHz / (16 * 115200) = 27 + 8 / 64 */
    UART_FBRD = 8;
    UART_LCRH = 0x70; /* 8 bits, FIFO */
    UART_CTL = 0x301;

    SYST_RVR = TICKS_PER_MS - 1;
    SYST_CVR = 0;
    SYST_CSR = 7; /* processor's clock, interrupt, on */
}

uint64_t board_ticks(void) {
    uint32_t were;
    __asm volatile("mrs %0, primask\n\tcpsid i" : "=r"(were) : : "memory");
    uint32_t left = SYST_CVR;
    uint64_t ms = ms_passed;
    if (ICSR & ICSR_PENDSTSET) { /* it went round and nobody has counted it yet */
        left = SYST_CVR;
        ms++;
    }
    __asm volatile("msr primask, %0" : : "r"(were) : "memory");
    return ms * TICKS_PER_MS + (TICKS_PER_MS - 1 - left);
}

uint32_t board_ms(void) { return (uint32_t)ms_passed; }

void board_say(const char *text) {
    for (; *text; text++) {
        while (UART_FR & UART_FR_TXFF) {
        }
        UART_DR = (uint8_t)*text;
    }
}

void board_panic(const char *why) {
    board_say("panic: ");
    board_say(why);
    board_say("\n");
    AIRCR = AIRCR_RESET;
    for (;;) {
    }
}

uint32_t board_user_word(int which) { return REG(USER_REG0 + 4 * (uint32_t)which); }
