# Which files of lwIP ($(LWIP)) are compiled: its IPv4 core, and what sockets add.

LWIP_RAW_FILES := $(addprefix $(LWIP)/src/, \
	$(addprefix core/, init.c def.c inet_chksum.c ip.c mem.c memp.c netif.c pbuf.c tcp.c tcp_in.c tcp_out.c timeouts.c udp.c) \
	$(addprefix core/ipv4/, acd.c dhcp.c etharp.c icmp.c ip4.c ip4_addr.c) \
	netif/ethernet.c)

LWIP_SOCKET_FILES := $(LWIP_RAW_FILES) $(LWIP)/src/core/sys.c $(addprefix $(LWIP)/src/api/, \
	api_lib.c api_msg.c err.c if_api.c netbuf.c sockets.c tcpip.c)
