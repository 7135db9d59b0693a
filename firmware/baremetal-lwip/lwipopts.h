/* lwIP on the LM3S6965: no operating system, 64 KB of RAM. lwip/opt.h says what each of these does. */
#ifndef WG_LWIPOPTS_H
#define WG_LWIPOPTS_H

#define NO_SYS 1
#define SYS_LIGHTWEIGHT_PROT 0 /* lwIP runs in the main loop only */
#define LWIP_SOCKET 0
#define LWIP_NETCONN 0
#define LWIP_RAW 0
#define LWIP_DHCP 1
#define LWIP_DHCP_DOES_ACD_CHECK 0 /* would cost seconds at each start */
#define LWIP_ACD 0
#define IP_FRAG 0 /* a datagram is one frame */
#define IP_REASSEMBLY 0
#define LWIP_STATS 0
#define LWIP_SINGLE_NETIF 1
#define LWIP_NETIF_STATUS_CALLBACK 1

#define MEM_ALIGNMENT 4
#ifndef MEM_SIZE
#define MEM_SIZE 6144 /* headers of what is sent: the bytes stay where they are */
#endif
#define LWIP_SUPPORT_CUSTOM_PBUF 1 /* frames.c */
#define PBUF_POOL_SIZE 0
#define MEMP_NUM_PBUF 40

/* How many connections, of both ports together, and how much of each may be under way. */
#define CONNECTIONS 4
#define TCP_MSS 1460
#define TCP_WND (2 * TCP_MSS)
#define TCP_SND_BUF (2 * TCP_MSS)
#define TCP_SND_QUEUELEN 16
#define MEMP_NUM_TCP_SEG 40
#define TCP_OVERSIZE 0    /* room left for the next write is of no use to bytes that are not copied */
#define TCP_QUEUE_OOSEQ 0 /* two segments are a window: one that came too early is not worth a buffer */
#define LWIP_TCP_KEEPALIVE 1

/* A connection for each exchange: those that close must not use up all of them. */
#define MEMP_NUM_TCP_PCB 12
#define MEMP_NUM_TCP_PCB_LISTEN 2
#define SO_REUSE 1
#define TCP_MSL 500
#define TCP_MAXRTX 6
#define TCP_SYNMAXRTX 3

#define MEMP_NUM_UDP_PCB 3 /* protocol, echo, DHCP */

#endif
