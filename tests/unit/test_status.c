/* The texts of statuses. */
#include <keel/status.h>

#include "unit.h"

#include <ctype.h>
#include <string.h>

#define NO_STATUS (-17) /* a former code, returned by no call */

START_TEST(every_status_has_a_text_of_its_own)
{
    const char *text, *other;
    int i, j;

    for (i = KEEL_INPROGRESS; i > KEEL_ERR_LAST; i--) {
        if (i == NO_STATUS) {
            continue;
        }
        text = keel_status_string(i);
        ck_assert_str_ne(text, "unknown status");
        ck_assert(islower((unsigned char)text[0]));
        for (j = KEEL_INPROGRESS; j > i; j--) {
            other = keel_status_string(j);
            ck_assert_str_ne(text, other);
        }
    }
}
END_TEST

START_TEST(numbers_outside_the_list_are_named_unknown)
{
    ck_assert_str_eq(keel_status_string(KEEL_ERR_LAST), "unknown status");
    ck_assert_str_eq(keel_status_string(2), "unknown status");
    ck_assert_str_eq(keel_status_string(NO_STATUS), "unknown status");
    ck_assert_str_eq(keel_status_string(-1000), "unknown status");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {every_status_has_a_text_of_its_own, numbers_outside_the_list_are_named_unknown, NULL};

    return unit_run("status", tests);
}
