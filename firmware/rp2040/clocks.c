/* Clocks and the microsecond timer. */
#include "clocks.h"

#include "registers.h"

#define CRYSTAL_HZ 12000000u

void unreset(uint32_t blocks) {
    CLEAR_BITS(RESETS_RESET) = blocks;
    while (~REGISTER(RESETS_DONE) & blocks) {}
}

/* 2.18.2: the oscillator between 750 and 1600 MHz, then two dividers of 1 to 7, the first the larger. */
static void begin_pll(uint32_t pll, uint32_t multiplier, uint32_t divider_1, uint32_t divider_2) {
    REGISTER(pll + PLL_CS) = 1; /* the crystal undivided */
    REGISTER(pll + PLL_FBDIV) = multiplier;
    CLEAR_BITS(pll + PLL_PWR) = PLL_VCO_AND_MAIN_OFF;
    while (!(REGISTER(pll + PLL_CS) & PLL_LOCK)) {}
    REGISTER(pll + PLL_PRIM) = divider_1 << 16 | divider_2 << 12;
    CLEAR_BITS(pll + PLL_PWR) = PLL_POSTDIV_OFF;
}

void clocks_begin(void) {
    REGISTER(XOSC_CTRL) = XOSC_1_15_MHZ;
    REGISTER(XOSC_STARTUP) = CRYSTAL_HZ / 1000u / 256u; /* 1 ms, in units of 256 cycles (2.16.3) */
    REGISTER(XOSC_CTRL) = XOSC_ENABLE | XOSC_1_15_MHZ;
    while (!(REGISTER(XOSC_STATUS) & XOSC_STABLE)) {}
    /* Away from the PLLs while they are set up: the boot ROM may have left the processor on one (2.15.3.2). */
    CLEAR_BITS(CLK_SYS_CTRL) = CLK_SYS_FROM_AUX;
    while (REGISTER(CLK_SYS_SELECTED) != 1u) {}
    REGISTER(CLK_REF_CTRL) = CLK_REF_FROM_XOSC;
    while (REGISTER(CLK_REF_SELECTED) != 1u << CLK_REF_FROM_XOSC) {}
    CLEAR_BITS(CLK_USB_CTRL) = CLK_USB_ENABLE;
    SET_BITS(RESETS_RESET) = RESET_PLL_SYS | RESET_PLL_USB;
    unreset(RESET_PLL_SYS | RESET_PLL_USB);
    begin_pll(PLL_SYS, 125, 6, 2); /* 1500 MHz / 12 */
    begin_pll(PLL_USB, 100, 5, 5); /* 1200 MHz / 25 */
    REGISTER(CLK_SYS_CTRL) = 0;
    REGISTER(CLK_SYS_CTRL) = CLK_SYS_FROM_AUX;
    while (REGISTER(CLK_SYS_SELECTED) != 1u << CLK_SYS_FROM_AUX) {}
    REGISTER(CLK_USB_CTRL) = CLK_USB_ENABLE;

    REGISTER(WATCHDOG_TICK) = WATCHDOG_TICK_ENABLE | CRYSTAL_HZ / TICK_HZ;
    unreset(RESET_TIMER);
}

uint64_t ticks(void) {
    uint32_t high = REGISTER(TIMER_RAW_HIGH);
    for (;;) {
        uint32_t low = REGISTER(TIMER_RAW_LOW);
        uint32_t again = REGISTER(TIMER_RAW_HIGH);
        if (again == high) {
            return (uint64_t)high << 32 | low;
        }
        high = again;
    }
}
