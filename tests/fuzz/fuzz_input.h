/* Meaning of the bytes of an input, shared by the targets and the corpus maker. */
#ifndef KEEL_FUZZ_INPUT_H_
#define KEEL_FUZZ_INPUT_H_

/* fuzz_control: the low four bits of a step; the high four are a rank. FUZZ_STEP_MESSAGE, and any
 * value not listed, is followed by a fuzz_message_t. */
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
    FUZZ_STEP_REPLAY /* a replacement replays the critical sections and waits sent by others */
};

/* fuzz_record: meaning of the bytes after the first byte */
enum {
    FUZZ_RECORD_ARENA,      /* LG as sources left it, with chunk headers */
    FUZZ_RECORD_REPLAY,     /* a GETLOG message */
    FUZZ_RECORD_REFILL,     /* a REFILL message */
    FUZZ_RECORD_RECORDS,    /* put-log records of a RECORDS message, sealed here */
    FUZZ_RECORD_ATOMIC,     /* the data of an ATOMIC message, sealed here */
    FUZZ_RECORD_RAW,        /* header and data of a request, unchanged */
    FUZZ_RECORD_ACCUMULATE, /* the data of an ACCUMULATE message, sealed here */
    FUZZ_RECORD_UNNUMBERED, /* the data of an UNNUMBERED message, sealed here */
    FUZZ_RECORD_LAST
};

/* fuzz_image: bits of the first byte */
enum {
    FUZZ_IMAGE_SEAL = 1 /* every crc is corrected first */
};

#endif
