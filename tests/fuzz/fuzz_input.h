/* What the bytes of an input mean: shared by the targets and by who makes the corpus. */
#ifndef KEEL_FUZZ_INPUT_H_
#define KEEL_FUZZ_INPUT_H_

/* fuzz_control: the low four bits of a step, the high ones are a rank; anything else is a fuzz_message_t */
enum {
    FUZZ_STEP_MESSAGE = 0,
    FUZZ_STEP_RAW_REQUEST,
    FUZZ_STEP_RAW_REPLY,
    FUZZ_STEP_DEATH,
    FUZZ_STEP_JOIN,
    FUZZ_STEP_EXIT,
    FUZZ_STEP_CHECKPOINT,
    FUZZ_STEP_PUT,
    FUZZ_STEP_GSYNC,
    FUZZ_STEP_PROGRESS,
    FUZZ_STEP_REPLAY /* a replacement takes up what it was sent of critical sections and waits */
};

/* fuzz_record: what the bytes after the first one are */
enum {
    FUZZ_RECORD_ARENA,      /* LG as sources left it, chunk headers and all */
    FUZZ_RECORD_REPLAY,     /* a GETLOG message */
    FUZZ_RECORD_REFILL,     /* a REFILL message */
    FUZZ_RECORD_RECORDS,    /* put-log records of a RECORDS message, sealed here */
    FUZZ_RECORD_ATOMIC,     /* the data of an ATOMIC message, sealed here */
    FUZZ_RECORD_RAW,        /* header and data of a request, as they are */
    FUZZ_RECORD_ACCUMULATE, /* the data of an ACCUMULATE message, sealed here */
    FUZZ_RECORD_UNNUMBERED, /* the data of an UNNUMBERED message, sealed here */
    FUZZ_RECORD_LAST
};

/* fuzz_image: bits of the first byte */
enum {
    FUZZ_IMAGE_SEAL = 1 /* every crc is made right first */
};

#endif
