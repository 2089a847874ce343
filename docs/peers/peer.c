/* A peer over a Unix socket of sequenced packets: cc -O2 -o peer peer.c */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
enum { LONGEST = 65536 };
static char message[1 + LONGEST]; /* a byte before each, since the end is received as a message of no bytes */

int main(int argc, char **argv) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int serves = argc == 3 && !strcmp(argv[1], "serve"), fd = socket(AF_UNIX, SOCK_SEQPACKET, 0), number;
    char word[8];
    snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", argv[2]);
    if (serves) {
        int listening = fd;
        if (bind(fd, (void *)&address, sizeof address) || listen(fd, 1)) return 1;
        fd = accept(listening, NULL, NULL);
        unlink(address.sun_path);
    } else {
        for (int i = 0; connect(fd, (void *)&address, sizeof address); i++)
            if (i == 5000 || usleep(1000)) return 1;
    }
    printf("ready %d\n", LONGEST);
    fflush(stdout);
    while (scanf("%7s %d", word, &number) == 2 && getchar() == '\n') {
        if (!strcmp(word, "send")) {
            if (number > LONGEST || fread(message + 1, 1, number, stdin) != (size_t)number) return 1;
            puts(send(fd, message, 1 + number, MSG_NOSIGNAL) < 0 ? "gone" : "sent");
        } else {
            struct pollfd ready = {.fd = fd, .events = POLLIN};
            ssize_t size = poll(&ready, 1, number) ? recv(fd, message, sizeof message, 0) : -2;
            if (size > 0) printf("message %zd\n", size - 1), fwrite(message + 1, 1, size - 1, stdout);
            else puts(size == -2 ? "late" : "gone");
        }
        fflush(stdout);
    }
    return 0;
}
