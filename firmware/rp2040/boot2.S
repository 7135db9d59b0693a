/* Second stage of the boot from flash (datasheet 2.8.1.3): the boot ROM copies these 256 bytes to the end of RAM, checks
 * their checksum (uf2.py puts it in the last four) and jumps here. Makes the flash readable as memory by the command that
 * every chip knows (03h, one bit at a time: slow, but it is read once), copies the image to RAM and enters it.
 * IMAGE_BYTES comes from the Makefile. No stack is used. */
.syntax unified
.cpu cortex-m0plus
.thumb

.equ SSI, 0x18000000
.equ CTRLR0, 0x00
.equ CTRLR1, 0x04
.equ SSIENR, 0x08
.equ BAUDR, 0x14
/* 4.10.13: frames of 32 bits, one data line, "EEPROM read": send command and address, then receive. */
.equ CTRLR0_VALUE, (31 << 16) | (3 << 8)
/* Command 03h; 8 bits of command, 24 of address (in units of 4); all on one line. */
.equ SPI_CTRLR0_VALUE, (0x03 << 24) | (2 << 8) | (6 << 2)

.section .entry, "ax"
.global boot2
.thumb_func
boot2:
    ldr r3, =SSI
    movs r0, #0
    str r0, [r3, #SSIENR]
    movs r0, #4             /* a quarter of the processor's clock, which is some 6 MHz now */
    str r0, [r3, #BAUDR]
    ldr r0, =CTRLR0_VALUE
    str r0, [r3, #CTRLR0]
    ldr r1, =SSI + 0xf4     /* SPI_CTRLR0 */
    ldr r0, =SPI_CTRLR0_VALUE
    str r0, [r1]
    movs r0, #0             /* one frame a read */
    str r0, [r3, #CTRLR1]
    movs r0, #1
    str r0, [r3, #SSIENR]

    ldr r0, =0x10000100     /* the image stands behind these 256 bytes */
    ldr r1, =0x20000000
    ldr r2, =IMAGE_BYTES
    adds r2, r2, r1
copy:
    ldmia r0!, {r3}
    stmia r1!, {r3}
    cmp r1, r2
    blo copy
    ldr r0, =0x20000001
    bx r0
.ltorg
