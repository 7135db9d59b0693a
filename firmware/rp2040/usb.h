/* The USB device: its controller, and endpoint 0, on which the host configures it. */
#ifndef USB_H
#define USB_H

/* Shows the device to the host. All else happens in the interrupt. */
void usb_begin(void);

void usb_interrupt(void);

#endif
