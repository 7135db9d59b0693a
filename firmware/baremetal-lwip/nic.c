/* The driver: frames are read out of the controller's FIFO in its interrupt, with the clock's reading, into static
 * buffers; the main loop hands them to lwIP. Data sheet DS-LM3S6965-5.8, section 16. */
#include "nic.h"

#include <string.h>

#include "board.h"
#include "entropy.h"
#include "frames.h"
#include "lwip/etharp.h"
#include "netif/ethernet.h"

#define MAC 0x40048000u
#define MAC_RIS REG(MAC + 0x00) /* written: acknowledge */
#define MAC_IM REG(MAC + 0x04)
#define MAC_RCTL REG(MAC + 0x08)
#define MAC_TCTL REG(MAC + 0x0C)
#define MAC_DATA REG(MAC + 0x10)
#define MAC_IA0 REG(MAC + 0x14)
#define MAC_IA1 REG(MAC + 0x18)
#define MAC_THR REG(MAC + 0x1C)
#define MAC_NP REG(MAC + 0x34)
#define MAC_TR REG(MAC + 0x38)
#define RECEIVED 0x01u /* in RIS and IM */
#define EVERY_INTERRUPT 0x7Fu
#define RCTL_RESET_FIFO 0x10u
#define RCTL_REJECT_BAD 0x08u
#define RCTL_ON 0x01u
#define WHOLE_FRAMES 0x3Fu /* THR: send what TR says, not what has filled so far */
#define NVIC_ENABLE_32_63 REG(0xE000E104u)
#define NVIC_PEND_32_63 REG(0xE000E204u)
#define ETHERNET_IRQ 42

/* The FIFO's first two bytes count themselves and the four of the check (section 16.2.1.1). */
#define COUNTED_EXTRA 6u
#define LONGEST 1514u

static frame *came[FRAMES]; /* a ring, filled by the interrupt */
static volatile uint32_t came_in, came_out;
static uint64_t ticks_of_current;
static uint32_t to_send[FRAME_WORDS];

/* No buffer is free: the interrupt is off until one is, frames wait in the FIFO, and the controller drops more. */
static volatile bool starved;

uint64_t nic_ticks(void) { return ticks_of_current; }

bool nic_waits(void) { return came_in != came_out; }

void frame_freed(void) {
    if (!starved) return;
    starved = false;
    MAC_IM = RECEIVED;
    NVIC_PEND_32_63 = 1u << (ETHERNET_IRQ - 32); /* for what waits already: it was acknowledged when it came */
}

static void read_frame(frame *f) {
    f->words[0] = MAC_DATA;
    uint32_t counted = f->words[0] & 0xFFFFu;
    for (uint32_t i = 1; i < (counted + 3) / 4; i++) {
        uint32_t word = MAC_DATA;
        if (i < FRAME_WORDS) f->words[i] = word;
    }
    f->bytes = (uint16_t)(counted - COUNTED_EXTRA);
}

void nic_interrupt(void) {
    uint64_t ticks = board_ticks();
    MAC_RIS = RECEIVED;
    while (MAC_NP & 0x3Fu) {
        frame *f = frame_take();
        if (!f) {
            starved = true;
            MAC_IM = 0;
            return;
        }
        f->ticks = ticks;
        read_frame(f);
        entropy_add((uint32_t)ticks);
        if (f->bytes >= SIZEOF_ETH_HDR && f->bytes <= LONGEST) {
            came[came_in % FRAMES] = f;
            came_in++;
        } else {
            f->taken = 0;
        }
        ticks = board_ticks(); /* another has come meanwhile: no earlier than this was it seen */
    }
}

void nic_hand_over(struct netif *netif) {
    /* No more than these before the main loop does something else: a host that floods the board does not keep it from
     * sending. */
    for (uint32_t n = came_in - came_out; n > 0; n--) {
        frame *f = came[came_out % FRAMES];
        came_out++;
        ticks_of_current = f->ticks;
        struct pbuf *p = frame_pbuf(f, 2); /* behind the FIFO's count */
        if (netif->input(p, netif) != ERR_OK) pbuf_free(p);
    }
}

static err_t send(struct netif *netif, struct pbuf *p) {
    (void)netif;
    uint8_t *bytes = (uint8_t *)to_send;
    uint16_t payload = (uint16_t)(p->tot_len - SIZEOF_ETH_HDR);
    bytes[0] = (uint8_t)payload;
    bytes[1] = (uint8_t)(payload >> 8);
    pbuf_copy_partial(p, bytes + 2, p->tot_len, 0);
    while (MAC_TR & 1u) { /* the frame before is still going out */
    }
    for (uint32_t i = 0; i < (p->tot_len + 2u + 3u) / 4u; i++) MAC_DATA = to_send[i];
    MAC_TR = 1;
    return ERR_OK;
}

static void take_address(struct netif *netif) {
    uint32_t low = board_user_word(0), high = board_user_word(1);
    /* Three bytes in each word; a board that was never given one gets a locally administered one. */
    if (low == 0xFFFFFFFFu || high == 0xFFFFFFFFu) {
        low = 0x475702;
        high = 0x010000;
    }
    for (int i = 0; i < 3; i++) {
        netif->hwaddr[i] = (uint8_t)(low >> 8 * i);
        netif->hwaddr[i + 3] = (uint8_t)(high >> 8 * i);
    }
    netif->hwaddr_len = 6;
    memcpy(&low, netif->hwaddr, 4);
    MAC_IA0 = low;
    MAC_IA1 = (uint32_t)netif->hwaddr[4] | (uint32_t)netif->hwaddr[5] << 8;
}

err_t nic_begin(struct netif *netif) {
    netif->name[0] = 'e';
    netif->name[1] = 'n';
    netif->output = etharp_output;
    netif->linkoutput = send;
    netif->mtu = 1500;
    netif->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET | NETIF_FLAG_LINK_UP;

    MAC_IM = 0;
    MAC_RCTL = RCTL_RESET_FIFO;
    MAC_RCTL = RCTL_REJECT_BAD;
    take_address(netif);
    MAC_THR = WHOLE_FRAMES;
    MAC_TCTL = 0x17; /* both ways at once, check and padding made by the controller, on */
    MAC_RCTL = RCTL_REJECT_BAD | RCTL_ON;
    MAC_RIS = EVERY_INTERRUPT;
    MAC_IM = RECEIVED;
    NVIC_ENABLE_32_63 = 1u << (ETHERNET_IRQ - 32);
    return ERR_OK;
}
