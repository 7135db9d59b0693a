/* Start-up, clock and UART of the MPS2 board (Arm DAI 0385, "Application Note AN385"). */
#include "board.h"

#include "entropy.h"

/* FPGA system control and I/O (AN385, 3.11): COUNTER goes up with the 25 MHz clock while PRESCALE is 0. SysTick is not
 * used for this: it is FreeRTOS's. */
#define FPGAIO_COUNTER REG(0x40028018u)
#define FPGAIO_PRESCALE REG(0x4002801Cu)

/* UART0: CMSDK's (Arm DDI 0479, 4.3) */
#define UART_DATA REG(0x40004000u)
#define UART_STATE REG(0x40004004u)
#define UART_CTRL REG(0x40004008u)
#define UART_BAUDDIV REG(0x40004010u)
#define UART_STATE_TX_FULL 1u
#define UART_CTRL_TX 1u

#define AIRCR REG(0xE000ED0Cu)
#define AIRCR_RESET 0x05FA0004u

extern uint32_t link_data_load, link_data, link_data_end, link_bss, link_bss_end, link_ram, link_hashed, link_stack;
int main(void);
void nic_interrupt(void);
void SVC_Handler(void);
void PendSV_Handler(void);
void SysTick_Handler(void);

static void reset(void) {
    entropy_begin(&link_ram, &link_hashed);
    for (uint32_t *from = &link_data_load, *to = &link_data; to < &link_data_end;) *to++ = *from++;
    for (uint32_t *to = &link_bss; to < &link_bss_end;) *to++ = 0;
    main();
    board_panic("main() ended");
}

static void fault(void) { board_panic("fault"); }

__attribute__((section(".vectors"), used)) static void (*const vectors[16 + 32])(void) = {
    [0] = (void (*)(void)) & link_stack,
    [1] = reset,
    [2] = fault,
    [3] = fault,
    [4] = fault,
    [5] = fault,
    [6] = fault,
    [11] = SVC_Handler,
    [14] = PendSV_Handler,
    [15] = SysTick_Handler,
    [16 + 13] = nic_interrupt,
};

void board_begin(void) {
    UART_BAUDDIV = CLOCK_HZ / 115200;
    UART_CTRL = UART_CTRL_TX;
    FPGAIO_PRESCALE = 0;
}

uint64_t board_ticks(void) { return FPGAIO_COUNTER; }

void board_say(const char *text) {
    for (; *text; text++) {
        while (UART_STATE & UART_STATE_TX_FULL) {}
        UART_DATA = (uint8_t)*text;
    }
}

void board_panic(const char *why) {
    board_say("panic: ");
    board_say(why);
    board_say("\n");
    AIRCR = AIRCR_RESET;
    for (;;) {}
}
