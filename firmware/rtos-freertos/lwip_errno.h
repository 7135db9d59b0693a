/* The C library has one errno for all tasks; FreeRTOS keeps one for each (configUSE_POSIX_ERRNO). */
#ifndef WG_LWIP_ERRNO_H
#define WG_LWIP_ERRNO_H

#include <errno.h>

extern int FreeRTOS_errno;
#undef errno
#define errno FreeRTOS_errno

#endif
