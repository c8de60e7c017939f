/* In a function that returns a status: returns what is not KEEL_OK. */
#ifndef KEEL_TEST_TRY_H_
#define KEEL_TEST_TRY_H_

#define TRY(_call)                       \
    do {                                 \
        keel_status_t _status = (_call); \
        if (_status != KEEL_OK) {        \
            return _status;              \
        }                                \
    } while (0)

#endif
