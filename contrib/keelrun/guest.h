/* Tells connections of this node's ranks from foreign connections. */
#ifndef KEELRUN_GUEST_H_
#define KEELRUN_GUEST_H_

typedef enum guest_owner {
    GUEST_OURS,   /* a descendant of this process has the other end open */
    GUEST_GONE,   /* the other end is closed, or a descendant that is exiting may have had it */
    GUEST_FOREIGN /* a process of another job, of another user or of another host */
} guest_owner_t;

/* Finds the owner of the other end of the TCP connection @a fd. Callable from any thread. */
guest_owner_t guest_owner(int fd);

#endif
