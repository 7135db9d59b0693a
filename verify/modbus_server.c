/* A Modbus server of libmodbus, with the registers of modbus_server.py: `modbus_server tcp` or `modbus_server PATH`. */
#include <errno.h>
#include <modbus/modbus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <unistd.h>

#define REGISTERS 100

int main(int argc, char **argv) {
  uint8_t request[MODBUS_TCP_MAX_ADU_LENGTH];
  int tcp = argc > 1 && strcmp(argv[1], "tcp") == 0;
  modbus_t *server = tcp ? modbus_new_tcp("127.0.0.1", 0) : modbus_new_rtu(argv[1], 115200, 'N', 8, 1);
  modbus_mapping_t *map = modbus_mapping_new(0, 0, REGISTERS, 0);
  int listening = -1;

  if (server == NULL || map == NULL || modbus_set_slave(server, 1) != 0) return 1;
  for (int at = 0; at < REGISTERS; at++) map->tab_registers[at] = (uint16_t)(1000 + at);
  if (tcp) {
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    listening = modbus_tcp_listen(server, 1);
    if (listening < 0 || getsockname(listening, (struct sockaddr *)&address, &size) != 0) return 1;
    printf("serving tcp://127.0.0.1:%d\n", ntohs(address.sin_port));
  } else {
    if (modbus_connect(server) != 0) return 1;
    printf("serving %s\n", argv[1]);
  }
  fflush(stdout);
  for (;;) {
    if (tcp && modbus_tcp_accept(server, &listening) < 0) return 1;
    for (;;) {
      int size = modbus_receive(server, request);
      if (size > 0) modbus_reply(server, request, size, map);
      if (size < 0 && (tcp || errno == EIO)) break;
    }
    if (!tcp) return 1;
    close(modbus_get_socket(server));
  }
}
