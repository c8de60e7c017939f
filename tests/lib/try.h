/* In a function with a status as result: returns every status except KEEL_OK. */
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
