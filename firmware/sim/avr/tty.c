/* A pseudo-terminal whose other end may be opened and closed again and again, as a serial port may. One that is closed
 * and opened again within the 50 us between two looks at it seems never to have been closed. */
#include "tty.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static void make_raw(int fd) {
    struct termios mode;
    if (tcgetattr(fd, &mode) == 0) {
        cfmakeraw(&mode);
        cfsetspeed(&mode, B115200);
        mode.c_cflag |= CLOCAL | CREAD;
        tcsetattr(fd, TCSANOW, &mode);
    }
}

bool tty_make(struct tty *tty) {
    int other;
    memset(tty, 0, sizeof *tty);
    if (openpty(&tty->master, &other, tty->name, NULL, NULL) != 0) return false;
    make_raw(other);
    /* Not kept open: that the last program has closed it shows as EIO, but only if we are not one of them. Its
     * settings stay, because the kernel keeps both ends of a pseudo-terminal as long as either is open. */
    close(other);
    return fcntl(tty->master, F_SETFL, O_NONBLOCK) == 0 && fcntl(tty->master, F_SETFD, FD_CLOEXEC) == 0;
}

static int open_other_end(const struct tty *tty) { return open(tty->name, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC); }

/* As a real port is once it is closed: a program that was killed may have left it to itself, or in another mode. */
static void free_for_the_next(const struct tty *tty) {
    int other = open_other_end(tty);
    if (other < 0) return;
    ioctl(other, TIOCNXCL);
    make_raw(other);
    close(other);
}

static bool hung_up(const struct tty *tty) {
    struct pollfd master = {tty->master, POLLIN, 0};
    return poll(&master, 1, 0) > 0 && (master.revents & POLLHUP);
}

void tty_look(struct tty *tty) {
    bool closed = hung_up(tty);
    if (closed && tty->open && !tty->ended) {
        tty->ended = true;
        free_for_the_next(tty);
    } else if (!closed && tty->ended) {
        tty->reopened = true;
    }
}

int tty_take(struct tty *tty, uint8_t *to, size_t room) {
    tty_look(tty);
    if (tty->reopened) {
        tty->ended = tty->reopened = false;
        return -1;
    }
    ssize_t n = read(tty->master, to, room);
    if (n > 0) return (int)n;
    if (n < 0 && errno == EIO) {
        tty->open = tty->ended = false;
        return -1;
    }
    tty->open = true;
    return 0;
}

bool tty_settle(struct tty *tty) {
    while (tty->held_from < tty->held_to) {
        ssize_t n = write(tty->master, tty->held + tty->held_from, tty->held_to - tty->held_from);
        if (n <= 0) return false;
        tty->held_from += (size_t)n;
    }
    tty->held_from = tty->held_to = 0;
    return true;
}

size_t tty_give(struct tty *tty, const uint8_t *bytes, size_t n) {
    size_t given = 0;
    if (tty_settle(tty)) {
        ssize_t written = write(tty->master, bytes, n);
        given = written > 0 ? (size_t)written : 0;
    }
    size_t rest = n - given;
    if (rest > sizeof tty->held - tty->held_to) rest = sizeof tty->held - tty->held_to;
    memcpy(tty->held + tty->held_to, bytes + given, rest);
    tty->held_to += rest;
    return given + rest;
}

void tty_forget(struct tty *tty) {
    tty->held_from = tty->held_to = 0;
    int other = open_other_end(tty);
    if (other < 0) return;
    tcflush(other, TCIFLUSH); /* not TCOFLUSH: another program may have opened it and written */
    close(other);
}
