/* The few registers of the RP2040 that this firmware touches, so that no vendor's headers are needed to build it.
 * Section numbers are those of the RP2040 datasheet. */
#ifndef REGISTERS_H
#define REGISTERS_H

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))

/* Atomic set and clear of bits, by a second address of each register (2.1.2). The USB memory (DPSRAM) has none. */
#define SET_BITS(address) REGISTER((address) + 0x2000u)
#define CLEAR_BITS(address) REGISTER((address) + 0x3000u)

/* Resets, 2.14.3: 1 holds a block in reset. */
#define RESETS_RESET 0x4000C000u
#define RESETS_DONE 0x4000C008u
#define RESET_IO_QSPI (1u << 6)
#define RESET_PADS_QSPI (1u << 9)
#define RESET_PLL_SYS (1u << 12)
#define RESET_PLL_USB (1u << 13)
#define RESET_TIMER (1u << 21)
#define RESET_USBCTRL (1u << 24)

/* Crystal oscillator, 2.16.7. */
#define XOSC_CTRL 0x40024000u
#define XOSC_STATUS 0x40024004u
#define XOSC_STARTUP 0x4002400Cu
#define XOSC_1_15_MHZ 0xAA0u
#define XOSC_ENABLE (0xFABu << 12)
#define XOSC_STABLE (1u << 31)

/* Clocks, 2.15.7. */
#define CLK_REF_CTRL 0x40008030u
#define CLK_REF_SELECTED 0x40008038u
#define CLK_SYS_CTRL 0x4000803Cu
#define CLK_SYS_SELECTED 0x40008044u
#define CLK_USB_CTRL 0x40008054u
#define CLK_REF_FROM_XOSC 2u
#define CLK_SYS_FROM_AUX 1u       /* whose default is pll_sys */
#define CLK_USB_ENABLE (1u << 11) /* from pll_usb, the default */

/* PLLs, 2.18.4. */
#define PLL_SYS 0x40028000u
#define PLL_USB 0x4002C000u
#define PLL_CS 0x0u
#define PLL_PWR 0x4u
#define PLL_FBDIV 0x8u
#define PLL_PRIM 0xCu
#define PLL_LOCK (1u << 31)
#define PLL_VCO_AND_MAIN_OFF 0x21u
#define PLL_POSTDIV_OFF 0x8u

/* The tick of the timer comes out of the watchdog, 4.7.2. */
#define WATCHDOG_TICK 0x4005802Cu
#define WATCHDOG_TICK_ENABLE (1u << 9)

/* Microsecond timer, 4.6.5. */
#define TIMER_RAW_HIGH 0x40054024u
#define TIMER_RAW_LOW 0x40054028u

#define SYSINFO_CHIP_ID 0x40000000u /* bits 31 to 28: revision, 1 for B0 and B1, 2 for B2 (2.20) */

/* Flash interface, 4.10.13, and its chip select pin, 2.19.6.2. */
#define SSI_STATUS 0x18000028u
#define SSI_DATA 0x18000060u
#define SSI_ROOM (1u << 1)
#define SSI_CAME (1u << 3)
#define QSPI_SS_CTRL 0x4001800Cu
#define QSPI_SS_FORCE (3u << 8)
#define QSPI_SS_LOW (2u << 8)
#define QSPI_SS_HIGH (3u << 8)

/* Cortex-M0+: interrupts and the address of their vectors, 2.4.8. */
#define NVIC_ENABLE 0xE000E100u
#define NVIC_DISABLE 0xE000E180u
#define NVIC_UNPEND 0xE000E280u
#define VECTOR_TABLE 0xE000ED08u
#define USB_IRQ 5u

/* USB: 4 KiB of memory shared with the controller (4.1.2.5), and the registers (4.1.4). */
#define USB_MEMORY 0x50100000u
#define USB_REGISTERS 0x50110000u
#define USB_ADDRESS (USB_REGISTERS + 0x00u)
#define USB_MAIN_CTRL (USB_REGISTERS + 0x40u)
#define USB_SIE_CTRL (USB_REGISTERS + 0x4Cu)
#define USB_SIE_STATUS (USB_REGISTERS + 0x50u)
#define USB_BUFF_STATUS (USB_REGISTERS + 0x58u)
#define USB_ABORT (USB_REGISTERS + 0x60u)
#define USB_ABORT_DONE (USB_REGISTERS + 0x64u)
#define USB_EP_STALL_ARM (USB_REGISTERS + 0x68u)
#define USB_MUXING (USB_REGISTERS + 0x74u)
#define USB_POWER (USB_REGISTERS + 0x78u)
#define USB_INTE (USB_REGISTERS + 0x90u)
#define USB_INTS (USB_REGISTERS + 0x98u)

#define USB_MAIN_ENABLE 1u
#define USB_MUXING_TO_PHY 1u
#define USB_MUXING_SOFTCON 8u
#define USB_POWER_VBUS_SEEN 8u
#define USB_POWER_OVERRIDE 4u
#define USB_SIE_EP0_INTERRUPTS (1u << 29)
#define USB_SIE_PULLUP (1u << 16)
#define USB_STATUS_SETUP (1u << 17)
#define USB_STATUS_BUS_RESET (1u << 19)
#define USB_INT_BUFFERS (1u << 4)
#define USB_INT_BUS_RESET (1u << 12)
#define USB_INT_SETUP (1u << 16)

/* Endpoint control (4.1.2.5.2): endpoints 1 to 15, IN, then OUT. */
#define EP_CONTROL(number, out) (USB_MEMORY + 8u * (number) + ((out) ? 4u : 0u))
#define EP_ENABLE (1u << 31)
#define EP_DOUBLE (1u << 30)
#define EP_INTERRUPT_EACH (1u << 29)
#define EP_TYPE(type) ((uint32_t)(type) << 26)

/* Buffer control (4.1.2.5.3): endpoints 0 to 15, IN, then OUT; the low half belongs to buffer 0, the high one to 1. */
#define BUFFER_CONTROL(number, out) (USB_MEMORY + 0x80u + 8u * (number) + ((out) ? 4u : 0u))
#define BUFFER_FULL 0x8000u
#define BUFFER_DATA1 0x2000u
#define BUFFER_SELECT_FIRST 0x1000u
#define BUFFER_STALL 0x0800u
#define BUFFER_AVAILABLE 0x0400u
#define BUFFER_BYTES 0x03FFu

#define EP0_BUFFER 0x100u /* fixed, IN and OUT */

#endif
