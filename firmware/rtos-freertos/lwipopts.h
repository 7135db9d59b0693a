/* lwIP on FreeRTOS, with sockets. Windows and buffers are those of the bare-metal board, so that the two differ in how
 * they are programmed and in little else. lwip/opt.h says what each of these does. */
#ifndef WG_LWIPOPTS_H
#define WG_LWIPOPTS_H

#include <sys/time.h> /* timeval, and the C library's fd_set */

#define NO_SYS 0
#define SYS_LIGHTWEIGHT_PROT 1
#define LWIP_SOCKET 1
#define LWIP_NETCONN 1
#define LWIP_COMPAT_SOCKETS 0 /* lwip_send(), not send(): the names of the C library stay its own */
#define LWIP_TIMEVAL_PRIVATE 0
#define LWIP_ERRNO_INCLUDE "lwip_errno.h"
#define LWIP_SO_LINGER 1
#define LWIP_RAW 0
#define LWIP_DHCP 1
#define LWIP_DHCP_DOES_ACD_CHECK 0
#define LWIP_ACD 0
#define IP_FRAG 0
#define IP_REASSEMBLY 0
#define LWIP_STATS 0
#define LWIP_SINGLE_NETIF 1
#define LWIP_NETIF_STATUS_CALLBACK 1

#define MEM_ALIGNMENT 4
#define MEM_SIZE (64 * 1024)
#define LWIP_SUPPORT_CUSTOM_PBUF 1 /* frames.c */
#define PBUF_POOL_SIZE 0
#define MEMP_NUM_PBUF 40

#define CONNECTIONS 4 /* of both ports together */
#define TCP_MSS 1460
#define TCP_WND (2 * TCP_MSS)
#define TCP_SND_BUF (2 * TCP_MSS)
#define TCP_SND_QUEUELEN 16
#define TCP_SNDLOWAT 512 /* select() says that there is room from here on */
#define MEMP_NUM_TCP_SEG 64
#define TCP_QUEUE_OOSEQ 0
#define LWIP_TCP_KEEPALIVE 1
#define MEMP_NUM_TCP_PCB 12
#define MEMP_NUM_TCP_PCB_LISTEN 2
#define SO_REUSE 1
#define TCP_MSL 500
#define TCP_MAXRTX 6
#define TCP_SYNMAXRTX 3
#define MEMP_NUM_UDP_PCB 4

/* Sockets: listeners, UDP's, connections, and those that are being accepted or closed. */
#define MEMP_NUM_NETCONN 16
#define MEMP_NUM_NETBUF 32
#define MEMP_NUM_TCPIP_MSG_INPKT 32
#define TCPIP_MBOX_SIZE 32
#define DEFAULT_TCP_RECVMBOX_SIZE 16
#define DEFAULT_UDP_RECVMBOX_SIZE 16
#define DEFAULT_ACCEPTMBOX_SIZE 8
#define TCPIP_THREAD_NAME "tcpip"
#define TCPIP_THREAD_STACKSIZE 4096
#define TCPIP_THREAD_PRIO 3

/* When what came: arrivals.c. */
#define LWIP_HOOK_FILENAME "arrivals_hooks.h"
#define LWIP_HOOK_TCP_INPACKET_PCB(pcb, hdr, optlen, opt1len, opt2, p) arrivals_tcp_segment(pcb, hdr, p)
#define LWIP_HOOK_IP4_INPUT(p, netif) arrivals_ip_packet(p)

#endif
