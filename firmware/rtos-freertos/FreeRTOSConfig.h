/* FreeRTOS on the Cortex-M3 of the MPS2 board; FreeRTOS's own page "Customisation" says what each of these does. */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#define configCPU_CLOCK_HZ 25000000u
#define configTICK_RATE_HZ 1000
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configUSE_PREEMPTION 1
#define configUSE_TIME_SLICING 1
#define configMAX_PRIORITIES 5
#define configMAX_TASK_NAME_LEN 8
#define configMINIMAL_STACK_SIZE 128
#define configIDLE_SHOULD_YIELD 1
#define configUSE_IDLE_HOOK 1
#define configUSE_TICK_HOOK 0
#define configUSE_TASK_NOTIFICATIONS 1
#define configUSE_MUTEXES 1
#define configUSE_RECURSIVE_MUTEXES 1
#define configUSE_COUNTING_SEMAPHORES 1
#define configUSE_POSIX_ERRNO 1               /* lwIP's errno is each task's own: lwip_errno.h */
#define configENABLE_BACKWARD_COMPATIBILITY 1 /* for lwIP's port */

/* Our own tasks and queues are static. lwIP's port takes its semaphores and mailboxes from FreeRTOS's heap, which is a
 * static array too. */
#define configSUPPORT_STATIC_ALLOCATION 1
#define configKERNEL_PROVIDED_STATIC_MEMORY 1
#define configSUPPORT_DYNAMIC_ALLOCATION 1
#define configTOTAL_HEAP_SIZE (64 * 1024)

#define configCHECK_FOR_STACK_OVERFLOW 2
void board_panic(const char *why) __attribute__((noreturn));
#define configASSERT(holds)                                                                                            \
    do {                                                                                                               \
        if (!(holds)) board_panic("FreeRTOS: " #holds);                                                                \
    } while (0)

/* Three bits of priority; interrupts from 5 on may call FreeRTOS (ARM DDI 0403, B1.5.4). */
#define configPRIO_BITS 3
#define configKERNEL_INTERRUPT_PRIORITY (7 << 5)
#define configMAX_SYSCALL_INTERRUPT_PRIORITY (5 << 5)
#define configCHECK_HANDLER_INSTALLATION 1

#define vPortSVCHandler SVC_Handler
#define xPortPendSVHandler PendSV_Handler
#define xPortSysTickHandler SysTick_Handler

#define INCLUDE_vTaskDelay 1
#define INCLUDE_vTaskSuspend 1
#define INCLUDE_xTaskGetCurrentTaskHandle 1

#endif
