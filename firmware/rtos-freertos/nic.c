/* The driver: the interrupt reads the clock and wakes a task, which reads the frames and passes them to lwIP's thread.
 * SMSC's data sheet of the LAN9118, sections in brackets. */
#include "nic.h"

#include <stdbool.h>
#include <string.h>

#include "FreeRTOS.h"
#include "board.h"
#include "entropy.h"
#include "frames.h"
#include "lwip/etharp.h"
#include "netif/ethernet.h"
#include "semphr.h"
#include "task.h"

#define LAN(offset) REG(0x40200000u + (offset))
#define RX_DATA LAN(0x00)
#define TX_DATA LAN(0x20)
#define RX_STATUS LAN(0x40)
#define TX_STATUS LAN(0x48)
#define IRQ_CFG LAN(0x54)
#define INT_STS LAN(0x58)
#define INT_EN LAN(0x5C)
#define FIFO_INT LAN(0x68)
#define RX_CFG LAN(0x6C)
#define TX_CFG LAN(0x70)
#define HW_CFG LAN(0x74)
#define RX_FIFO_INF LAN(0x7C)
#define TX_FIFO_INF LAN(0x80)
#define MAC_CMD LAN(0xA4)
#define MAC_DATA LAN(0xA8)

#define INT_RSFL (1u << 3) /* the FIFO of receive statuses has an entry [5.3.2] */
#define IRQ_ON_HIGH_PUSHPULL 0x111u
#define HW_CFG_RESET 1u
#define HW_CFG_TX_5K 0x00050000u
#define RX_CFG_OFFSET_2 (2u << 8) /* two bytes before the frame, so that the IP header is aligned [5.3.7] */
#define TX_CFG_ON 2u
#define TX_FIRST_AND_LAST 0x3000u
#define MAC_BUSY 0x80000000u
#define MAC_CR 1u
#define MAC_ADDRH 2u
#define MAC_ADDRL 3u
#define MAC_CR_DUPLEX_TX_RX 0x0010000Cu

#define STATUS_ERROR 0x8000u /* of RX_STATUS [3.13.3] */
#define FCS 4u
#define LONGEST 1514u

#define IRQ 13
#define NVIC_ENABLE REG(0xE000E100u)
#define NVIC_PRIORITY(irq) (*(volatile uint8_t *)(0xE000E400u + (irq)))
#define PRIORITY (6 << 5) /* below configMAX_SYSCALL_INTERRUPT_PRIORITY, so that it may wake a task */

#define RECEIVER_PRIORITY 4 /* above lwIP's thread: the FIFO is small */
#define RECEIVER_STACK 256
/* Frames received without a pause; then the tasks below have their turn until the next tick. Else a host that floods
 * the board keeps it busy with receiving what it then has no time to use (Mogul and Ramakrishnan, "Eliminating receive
 * livelock in an interrupt-driven kernel", 1997). More than 32 frames a millisecond are 12 MB/s and up. */
#define BURST 32

static TaskHandle_t receiver;
static SemaphoreHandle_t sender;
static volatile uint64_t interrupt_ticks;
static uint32_t to_send[FRAME_WORDS];

/* Frames are found by the receiver when the next comes: nothing need be done. */
void frame_freed(void) {}

void nic_interrupt(void) {
    BaseType_t wakes = pdFALSE;
    interrupt_ticks = board_ticks();
    INT_EN = 0; /* until the receiver has emptied the FIFO */
    INT_STS = 0xFFFFFFFFu;
    vTaskNotifyGiveFromISR(receiver, &wakes);
    portYIELD_FROM_ISR(wakes);
}

static void receive_one(struct netif *netif, uint64_t ticks) {
    uint32_t status = RX_STATUS;
    uint32_t bytes = status >> 16 & 0x3FFFu;
    uint32_t words = (bytes + 2 + 3) / 4;
    bool good = !(status & STATUS_ERROR) && bytes >= SIZEOF_ETH_HDR + FCS && bytes <= LONGEST + FCS;
    frame *f = good ? frame_take() : NULL;
    if (!f) { /* lost, as frames may be */
        while (words--) (void)RX_DATA;
        return;
    }
    for (uint32_t i = 0; i < words; i++) f->words[i] = RX_DATA;
    f->bytes = (uint16_t)(bytes - FCS);
    f->ticks = ticks;
    struct pbuf *p = frame_pbuf(f, 2);
    if (netif->input(p, netif) != ERR_OK) pbuf_free(p);
}

static void receive(void *of) {
    struct netif *netif = of;
    for (;;) {
        ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
        uint64_t ticks = interrupt_ticks;
        uint32_t burst = 0;
        do {
            while (RX_FIFO_INF & 0x00FF0000u) {
                if (++burst % BURST == 0) vTaskDelay(1);
                entropy_add((uint32_t)ticks);
                receive_one(netif, ticks);
                ticks = board_ticks(); /* the next came meanwhile: no earlier than this was it seen */
            }
            INT_STS = INT_RSFL;
            INT_EN = INT_RSFL;
        } while (RX_FIFO_INF & 0x00FF0000u); /* came between the two */
    }
}

static err_t send(struct netif *netif, struct pbuf *p) {
    (void)netif;
    xSemaphoreTake(sender, portMAX_DELAY);
    pbuf_copy_partial(p, to_send, p->tot_len, 0);
    while (TX_FIFO_INF & 0x00FF0000u) (void)TX_STATUS; /* of frames before; nobody asks */
    while ((TX_FIFO_INF & 0xFFFFu) < p->tot_len + 16u) {}
    TX_DATA = TX_FIRST_AND_LAST | p->tot_len;
    TX_DATA = p->tot_len;
    for (uint32_t i = 0; i < (p->tot_len + 3u) / 4u; i++) TX_DATA = to_send[i];
    xSemaphoreGive(sender);
    return ERR_OK;
}

static void mac_write(uint32_t which, uint32_t value) {
    while (MAC_CMD & MAC_BUSY) {}
    MAC_DATA = value;
    MAC_CMD = MAC_BUSY | which;
    while (MAC_CMD & MAC_BUSY) {}
}

static uint32_t mac_read(uint32_t which) {
    while (MAC_CMD & MAC_BUSY) {}
    MAC_CMD = MAC_BUSY | 1u << 30 | which;
    while (MAC_CMD & MAC_BUSY) {}
    return MAC_DATA;
}

/* The controller has read its address from its EEPROM; without one, it is all ones, and a local one is given. */
static void take_address(struct netif *netif) {
    static const uint8_t local[6] = {0x02, 0x57, 0x47, 0x00, 0x00, 0x02};
    uint32_t low = mac_read(MAC_ADDRL), high = mac_read(MAC_ADDRH) & 0xFFFFu;
    memcpy(netif->hwaddr, &low, 4);
    memcpy(netif->hwaddr + 4, &high, 2);
    if ((low == 0xFFFFFFFFu && high == 0xFFFFu) || (low == 0 && high == 0)) {
        memcpy(netif->hwaddr, local, 6);
        mac_write(MAC_ADDRL, local[0] | local[1] << 8 | local[2] << 16 | (uint32_t)local[3] << 24);
        mac_write(MAC_ADDRH, (uint32_t)(local[4] | local[5] << 8));
    }
    netif->hwaddr_len = 6;
}

err_t nic_begin(struct netif *netif) {
    static StaticSemaphore_t sender_memory;
    static StaticTask_t receiver_memory;
    static StackType_t receiver_stack[RECEIVER_STACK];

    netif->name[0] = 'e';
    netif->name[1] = 'n';
    netif->output = etharp_output;
    netif->linkoutput = send;
    netif->mtu = 1500;
    netif->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET | NETIF_FLAG_LINK_UP;

    HW_CFG = HW_CFG_RESET;
    while (HW_CFG & HW_CFG_RESET) {}
    HW_CFG = HW_CFG_TX_5K;
    INT_EN = 0;
    INT_STS = 0xFFFFFFFFu;
    FIFO_INT = 0;
    IRQ_CFG = IRQ_ON_HIGH_PUSHPULL;
    RX_CFG = RX_CFG_OFFSET_2;
    take_address(netif);

    sender = xSemaphoreCreateMutexStatic(&sender_memory);
    receiver = xTaskCreateStatic(receive, "receive", RECEIVER_STACK, netif, RECEIVER_PRIORITY, receiver_stack,
                                 &receiver_memory);
    TX_CFG = TX_CFG_ON;
    mac_write(MAC_CR, MAC_CR_DUPLEX_TX_RX);
    NVIC_PRIORITY(IRQ) = PRIORITY;
    NVIC_ENABLE = 1u << IRQ;
    INT_EN = INT_RSFL;
    return ERR_OK;
}
